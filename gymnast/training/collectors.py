"""Opens the environments of a training, with the collector that plays them."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from gymnast.collect.collector import Collector
from gymnast.collect.tasks import TaskSampler
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.config.sections.env import VECTOR_BACKENDS
from gymnast.config.sections.shaping import step_info_keys
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX
from gymnast.envs.build.open import open_envs
from gymnast.envs.build.seeding import check_seeding
from gymnast.errors import ConfigError
from gymnast.seeds import is_in_subset

if TYPE_CHECKING:
    from gymnast.collect.matches import MatchCollector


def open_collector(cfg: Config) -> Collector:
    """Returns a collector with the training environments opened."""
    return _open_matches(cfg) if is_multi_agent(cfg.env.id) else open_vector_collector(cfg)


def open_vector_collector(cfg: Config) -> VectorCollector:
    """Returns a collector for an environment with one agent, with its copies opened. Whether seeds make its
    episodes reproducible is declared in the facts, or tried out. Raises ConfigError if the backend cannot
    collect the whole episodes that the algorithm needs."""
    env = cfg.env
    if env.backend in VECTOR_BACKENDS and cfg.initial_hyperparameters().rollout_length().episodes:
        what = (
            f"{cfg.algo.name} collects whole episodes, but env.backend={env.backend} cannot step "
            "single copies"
        )
        raise ConfigError(what, fix=OTHER_BACKEND_FIX)
    metric_keys, step_keys = cfg.info_keys(), step_info_keys(cfg.shaping)
    envs = open_envs(
        env,
        limit=cfg.training_limit(),
        info_keys=sorted(set(metric_keys.values())),
        step_keys=step_keys,
        on_output=logging.getLogger("gymnast.envs").warning,
    )
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
    return VectorCollector(
        envs,
        seed=cfg.seed,
        metric_keys=metric_keys,
        step_keys=step_keys,
        should_trace=partial(is_in_subset, cfg.traces.train),
        keep_obs=not seeding.is_replayable and cfg.traces.train > 0,
        on_fault=env.on_fault,
        max_faults=env.max_faults,
        task_sampler=TaskSampler.from_config(env),
        seeding_warnings=seeding.warnings,
    )


def _open_matches(cfg: Config) -> MatchCollector:
    """Returns a collector with the matches of a multi-agent environment opened. Raises ConfigError for an
    algorithm that cannot learn roles, and if no role learns."""
    from gymnast.collect.matches import MatchCollector
    from gymnast.envs.matches.open import open_matches
    from gymnast.selfplay.evaluation import learning_roles

    if (
        cfg.initial_hyperparameters().rollout_length().episodes
        or cfg.algo.action_selection != "sample"
    ):
        what = f"{cfg.algo.name} cannot learn roles of several agents"
        raise ConfigError(what, fix="use ppo or a2c")
    matches = open_matches(cfg, cfg.env.n_envs)
    learners = learning_roles(cfg, list(matches.roles))
    if not learners:
        known = ", ".join(matches.roles)
        raise ConfigError(
            f"no role learns in {cfg.env.id}", fix=f"set roles.ROLE.plays=learner ({known})"
        )
    return MatchCollector(
        matches,
        seed=cfg.seed,
        learners=learners,
        should_trace=partial(is_in_subset, cfg.traces.train),
        on_fault=cfg.env.on_fault,
        max_faults=cfg.env.max_faults,
    )
