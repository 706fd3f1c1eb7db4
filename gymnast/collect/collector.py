"""What the training loop asks of whoever plays for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.tasks import TaskDraw
from gymnast.config.section import Span
from gymnast.envs.backends.backend import Fault
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.trace import Trace

if TYPE_CHECKING:
    from gymnast.collect.matches import MatchEnd

Array = np.ndarray
ROLE = "agent"
"""The only role of a Gymnasium environment."""


@dataclass
class Collected:
    """One rollout per role, and what else came of collecting them."""

    rollouts: dict[str, Rollout]
    steps: int
    """Steps the copies took, all together."""
    vec_steps: int
    episodes: int
    """Those that ended; of several agents, matches."""
    complete: bool = True
    """Every copy has its share; false where whole episodes were cut off."""
    traces: list[Trace] = field(default_factory=list[Trace])
    match_traces: list[MatchTrace] = field(default_factory=list[MatchTrace])
    ends: list[MatchEnd] = field(default_factory=lambda: [])
    """Matches that are over."""
    faults: list[Fault] = field(default_factory=list[Fault])
    """What went wrong in single copies; their episodes were dropped."""
    failed: Fault | None = None
    """The fault after which a copy was given up: training cannot go on."""
    env_seconds: float = 0.0
    inference_seconds: float = 0.0


class Collector(Protocol):
    seeding_warnings: tuple[str, ...]
    """About what seeds do, for a person."""
    tasks: TaskDraw | None

    @property
    def spaces(self) -> dict[str, tuple[Any, Any]]:
        """Role that is learned -> observation and action space."""
        ...

    @property
    def name(self) -> str: ...

    @property
    def time_limit(self) -> int | None: ...

    @property
    def has_default_limit(self) -> bool: ...

    @property
    def resumes_exactly(self) -> bool:
        """Whether running episodes can be had again after a break."""
        ...

    @property
    def space_texts(self) -> tuple[str, str]:
        """What is observed and what is done, for a person."""
        ...

    @property
    def outcomes(self) -> Mapping[str, str]:
        """How a match may end -> the role that then has won."""
        ...

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        """Columns of the role's rollouts that belong to these copies, or to all."""
        ...

    def start_episodes(self) -> None: ...

    def collect(
        self,
        lineup: Mapping[str, Policy],
        span: Span,
        clock: Clock,
        give_up: Callable[[], bool] = ...,
    ) -> Collected: ...

    def state(self) -> dict[str, Any]: ...

    def load(self, arrays: dict[str, Any]) -> dict[int, str]:
        """Restore the running episodes. Returns each copy where that failed, and why."""
        ...

    def close(self) -> None: ...
