"""The interface between the training loop and the collectors that produce its rollouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.tasks import TaskSampler
from gymnast.config.section import RolloutLength
from gymnast.envs.backends.backend import Backend, Fault
from gymnast.envs.matches.matches import Matches
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.trace import Trace
from gymnast.spaces.spaces import Action, Observation

if TYPE_CHECKING:
    from gymnast.collect.matches import MatchEnd

Array = np.ndarray
ROLE = "agent"
"""The only role of a Gymnasium environment."""


@dataclass
class CollectResult:
    """The result of one `collect` call: one rollout per learned role, counts, traces and faults."""

    rollouts: dict[str, Rollout]
    steps: int
    """Env steps, summed over all copies."""
    vec_steps: int
    """Vector steps: calls of `step` on all copies together."""
    episodes: int
    """Number of episodes that ended; with several agents, of matches."""
    complete: bool = True
    """False if collecting whole episodes was cut off before every copy had finished its quota."""
    traces: list[Trace] = field(default_factory=list[Trace])
    match_traces: list[MatchTrace] = field(default_factory=list[MatchTrace])
    match_ends: list[MatchEnd] = field(default_factory=lambda: [])
    """The matches that ended."""
    faults: list[Fault] = field(default_factory=list[Fault])
    """Errors in single copies; the episodes they interrupted were dropped."""
    fatal_fault: Fault | None = None
    """The fault that exceeded a copy's limit: training must stop."""
    env_seconds: float = 0.0
    inference_seconds: float = 0.0
    host_row: dict[str, float] = field(default_factory=dict[str, float])
    """Metrics of the hosts that collected; empty in one process."""
    host_events: list[tuple[str, dict[str, object]]] = field(
        default_factory=list[tuple[str, dict[str, object]]]
    )
    """Losses of hosts and the like, as (kind, detail)."""


@dataclass(frozen=True)
class EnvDescription:
    """Properties of a collector's environment that do not change during a run."""

    space_texts: tuple[str, str]
    """Human-readable descriptions of the observation and the action space."""
    time_limit: int | None
    """Maximum number of steps per episode, if one is declared or applied."""
    has_default_limit: bool
    """True if the environment declares no limit, so that `time_limit` is gymnast's default."""
    resumes_exactly: bool
    """Whether unfinished episodes can be restored from a checkpoint."""
    outcomes: Mapping[str, str]
    """Every possible outcome of a match and the role that wins with it; empty for a Gymnasium
    environment."""

    @classmethod
    def of(
        cls,
        envs: Backend | Matches,
        space_texts: tuple[str, str],
        outcomes: Mapping[str, str] = MappingProxyType({}),
    ) -> EnvDescription:
        """Returns the description of these environments. `outcomes`: every outcome of a match -> the role
        that wins with it."""
        exact = envs.restore_mode != "none"
        return cls(space_texts, envs.time_limit, envs.has_default_limit, exact, outcomes)


class Collector(Protocol):
    """Steps environments with the current policies and returns rollouts."""

    env: EnvDescription
    spaces: dict[str, tuple[Observation, Action]]
    """Observation and action space of each learned role."""
    seeding_warnings: tuple[str, ...]
    """Human-readable warnings about environments that do not reproduce from a seed."""
    task_sampler: TaskSampler | None
    """Draws the task of each episode; None if there is only one task."""

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        """Returns the column indices in the role's rollouts that belong to these copies, or to all."""
        ...

    def start_episodes(self) -> None:
        """Resets every copy; called once, before the first rollout of a new run."""
        ...

    def collect(
        self,
        policies: Mapping[str, Policy],
        span: RolloutLength,
        clock: Clock,
        should_stop: Callable[[], bool] = ...,
    ) -> CollectResult:
        """Collects one rollout per role in `policies` (role -> policy), `span` steps or episodes long.
        `clock` gives the number of rollouts and env steps before; `should_stop()` is asked while whole
        episodes are collected, which may take arbitrarily long."""
        ...

    def state(self) -> dict[str, Array]:
        """Returns everything that `load` needs to continue the unfinished episodes."""
        ...

    def load(self, arrays: dict[str, Array]) -> dict[int, str]:
        """Restores the unfinished episodes. Returns each copy for which that failed, with the reason."""
        ...

    def close(self) -> None: ...
