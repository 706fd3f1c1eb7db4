"""Opens the environments of a training, with the collector that plays them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gymnast.collect.collector import Collector
from gymnast.collect.open_vector import open_vector_collector
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.errors import ConfigError
from gymnast.seeds import is_in_subset

if TYPE_CHECKING:
    from gymnast.collect.matches import MatchCollector


def open_collector(cfg: Config) -> Collector:
    """Returns a collector with the training environments opened."""
    if is_multi_agent(cfg.env.id):
        return _open_matches(cfg)
    if cfg.collect.on == "here":
        return open_vector_collector(cfg)
    # imported here: most runs collect in this process
    from gymnast.collect.shards.open import open_hosts

    return open_hosts(cfg)


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
