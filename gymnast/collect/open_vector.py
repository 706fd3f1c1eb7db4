"""Opens the env copies of an environment with one agent, with the collector that plays them."""

from __future__ import annotations

import logging
from functools import partial

from gymnast.collect.copies import CopyRange
from gymnast.collect.tasks import TaskSampler
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.sections.env import VECTOR_BACKENDS
from gymnast.config.sections.shaping import step_info_keys
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX, Backend
from gymnast.envs.build.open import open_envs
from gymnast.envs.build.seeding import check_seeding
from gymnast.errors import ConfigError
from gymnast.seeds import is_in_subset


def open_vector_collector(cfg: Config, copies: CopyRange | None = None) -> VectorCollector:
    """Returns a collector for an environment with one agent, with its copies opened: all of the run if
    `copies` is None. Whether seeds make its episodes reproducible is declared in the facts, or tried out.
    Raises ConfigError if the backend cannot collect the whole episodes that the algorithm needs."""
    env = cfg.env if copies is None else cfg.env.model_copy(update={"n_envs": len(copies)})
    if env.backend in VECTOR_BACKENDS and cfg.initial_hyperparameters().rollout_length().episodes:
        what = (
            f"{cfg.algo.name} collects whole episodes, but env.backend={env.backend} cannot step "
            "single copies"
        )
        raise ConfigError(what, fix=OTHER_BACKEND_FIX)
    envs = open_envs(
        env,
        limit=cfg.training_limit(),
        info_keys=sorted(set(cfg.info_keys().values())),
        step_keys=step_info_keys(cfg.shaping),
        on_output=logging.getLogger("gymnast.envs").warning,
    )
    return collector_of(cfg, envs, copies)


def collector_of(
    cfg: Config,
    envs: Backend,
    copies: CopyRange | None = None,
    kind: type[VectorCollector] = VectorCollector,
) -> VectorCollector:
    """Returns a collector, of class `kind`, for environments that are open already. It closes them, also if
    it cannot be created."""
    env = cfg.env
    try:
        seeding = check_seeding(envs, cfg.facts.deterministic)
    except BaseException:  # Ctrl-C too: worker processes must not stay behind
        envs.close()
        raise
    if not seeding.is_replayable and (
        env.backend not in VECTOR_BACKENDS or cfg.facts.deterministic == "no"
    ):
        # a vector backend without a declaration finds out when it first restores an episode
        envs.restore_mode = "none"
    return kind(
        envs,
        seed=cfg.seed,
        metric_keys=cfg.info_keys(),
        step_keys=step_info_keys(cfg.shaping),
        should_trace=partial(is_in_subset, cfg.traces.train),
        keep_obs=not seeding.is_replayable and cfg.traces.train > 0,
        on_fault=env.on_fault,
        max_faults=env.max_faults,
        task_sampler=TaskSampler.from_config(env),
        seeding_warnings=seeding.warnings,
        copies=copies,
    )


def refuse_action_masks(cfg: Config) -> None:
    """Raises ConfigError: the environment provides action masks, and the algorithm cannot use them."""
    what = f"{cfg.algo.name} does not support action masks, which {cfg.env.id} provides"
    raise ConfigError(what, fix="set env.action_mask=off, or choose another algorithm")
