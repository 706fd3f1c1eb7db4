"""Orders to a host with central inference, which only steps environments, and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gymnast.collect.copies import CopyRange
from gymnast.config.config import Config
from gymnast.envs.backends.backend import Fault
from gymnast.envs.env_types import Info
from gymnast.hosts import HostFacts

Array = np.ndarray


@dataclass(frozen=True)
class OpenEnvs:
    """Opens the environments of a shard. The answer is `EnvsOpened`."""

    cfg: Config
    copies: CopyRange


@dataclass(frozen=True)
class ResetEnvs:
    """Starts an episode in each of these copies of the shard. The answer is `Outcome`."""

    copies: Sequence[int]
    seeds: Sequence[int]


@dataclass(frozen=True)
class StepEnvs:
    """Steps the copies of the shard, or only the given ones. The answer is `Outcome`."""

    action: Array
    copies: Sequence[int] | None


@dataclass(frozen=True)
class ReplayEnvs:
    """Brings the copies to where a lost host had them. The answer is the copies that did not get there."""

    episodes: Mapping[int, tuple[int, Sequence[Array]]]
    """Copy -> seed and actions of its running episode."""
    obs: Array
    """Observations that the copies had on the lost host, [N, ...]."""


EnvOrder = OpenEnvs | ResetEnvs | StepEnvs | ReplayEnvs


@dataclass(frozen=True)
class EnvsOpened:
    facts: HostFacts
    name: str
    spaces: tuple[dict[str, Any], dict[str, Any]]
    """Observation and action space as JSON."""
    space_texts: tuple[str, str]
    time_limit: int | None
    has_default_limit: bool
    restore_mode: str
    obs: Array
    """Any observations, [N, ...], for their shape and dtype."""


@dataclass(frozen=True)
class Outcome:
    """The copies of a shard after a reset or a step. Arrays are [N, ...]."""

    obs: Array
    mask: Array | None
    faults: tuple[Fault, ...]
    reward: Array | None = None
    terminated: Array | None = None
    truncated: Array | None = None
    stepped: Array | None = None
    info_values: Array | None = None
    infos: dict[int, Info] | None = None
    """The last info of copies whose episode ended, reduced to the keys that metrics read."""
    seconds: float = 0.0
