"""Opens the hosts of a run."""

from __future__ import annotations

import logging

from gymnast.collect.collector import Collector
from gymnast.collect.open_vector import collector_of
from gymnast.collect.shards.async_collector import AsyncCollector
from gymnast.collect.shards.carrier import Carrier
from gymnast.collect.shards.central import CentralCollector, RemoteBackend
from gymnast.collect.shards.collector import ShardedCollector
from gymnast.config.config import Config
from gymnast.errors import ConfigError


def open_hosts(cfg: Config) -> Collector:
    """Returns the collector of a run with `collect.on` other than `here`. Raises ConfigError for algorithms
    that hosts cannot collect for."""
    is_central = cfg.collect.inference == "central"
    if cfg.initial_hyperparameters().rollout_length().episodes and not is_central:
        what = (
            f"{cfg.algo.name} collects whole episodes, whose steps hosts cannot divide in advance "
            f"(collect.on={cfg.collect.on})"
        )
        raise ConfigError(what, fix="set collect.on=here or collect.inference=central")
    carrier = open_carrier(cfg)
    if is_central:
        return collector_of(cfg, RemoteBackend(cfg, carrier), kind=CentralCollector)
    hosts = ShardedCollector(cfg, carrier)
    return AsyncCollector(hosts) if cfg.collect.mode == "async" else hosts


def open_carrier(cfg: Config) -> Carrier:
    """Returns the carrier that `collect.on` names."""
    if cfg.collect.on == "ray":
        from gymnast.collect.shards.ray_carrier import RayCarrier

        return RayCarrier(cfg.collect)
    from gymnast.collect.shards.local_carrier import LocalCarrier

    return LocalCarrier(logging.getLogger("gymnast.envs").warning)
