"""Orders of the training process to a host, and its answers. They are sent by pickle, between processes that
trust each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gymnast.collect.collector import EnvDescription
from gymnast.collect.copies import CopyRange
from gymnast.collect.fragment import Fragment
from gymnast.collect.shards.env_orders import EnvOrder
from gymnast.config.config import Config
from gymnast.config.section import RolloutLength
from gymnast.hosts import HostFacts

Array = np.ndarray


@dataclass(frozen=True)
class Open:
    """Opens the environments of a shard."""

    cfg: Config
    copies: CopyRange


@dataclass(frozen=True)
class Start:
    """Starts the first episode of every copy. The answer is a `ShardState`."""


@dataclass(frozen=True)
class Load:
    """Restores the unfinished episodes. The answer is `Loaded`."""

    arrays: dict[str, Array]
    """The shard's part of what `Collector.state` returned."""
    faults_in_a_row: Array | None
    """Faults of each copy since it last finished an episode, on the host that had the shard before."""


@dataclass(frozen=True)
class Collect:
    """Plays the shard's part of a rollout. The answer is `Collected`."""

    policy: Mapping[str, Any]
    """The policy's spec."""
    span: RolloutLength
    rollout: int
    """Number of rollouts before this one."""
    stage: int
    """Stage of the curriculum."""
    instruction_set: str
    """Instruction set of the compiled kernels, the same on all hosts; empty if there are none."""
    max_steps: int | None = None
    """Ends the rollout after this many vector steps: another shard had to."""
    exact: bool = True
    """Whether the numbers must be the bits that one process would compute."""


Order = Open | Start | Load | Collect | EnvOrder


@dataclass(frozen=True)
class ShardState:
    """Everything that continues a shard elsewhere, in addition to the steps of its running episodes."""

    obs: Array
    """Current observations, [N, ...]."""
    start: Array
    """Whether each is the first of an episode, [N]."""
    table: Array
    """The current episode of each copy (`RunningEpisodes.table`), [N]."""
    policy_state: Array | None
    history: dict[str, Array] | None
    """Arrays with which the backend restores its copies; None if it cannot restore them."""
    faults_in_a_row: Array


@dataclass(frozen=True)
class Opened:
    """The environments of a shard are open."""

    facts: HostFacts
    instruction_sets: tuple[str, ...]
    """Instruction sets of the compiled kernels that the host's processor supports, the best one last."""
    env: EnvDescription
    spaces: tuple[dict[str, Any], dict[str, Any]]
    """Observation and action space as JSON."""
    seeding_warnings: tuple[str, ...]
    keep_obs: bool
    name: str
    """Name of the environment in messages."""
    restore_mode: str
    has_mask: bool
    """Whether the environment provides action masks; known only for algorithms that cannot use them."""


@dataclass(frozen=True)
class Loaded:
    failed: dict[int, str]
    """Copies of the shard whose episode could not be restored, with the reason."""
    state: ShardState


@dataclass(frozen=True)
class Collected:
    fragment: Fragment
    state: ShardState
    cpu_seconds: float
    """CPU time of the host for this fragment."""
