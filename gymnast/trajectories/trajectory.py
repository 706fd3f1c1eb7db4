"""One episode or match, step by step: the record behind one line of a trajectory file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import ConfigDict

from gymnast.envs.matches.placement import Arena
from gymnast.league.results import DRAW

Array = np.ndarray
FORMAT = 1
"""Version of the format, which is the first field of every line. Readers reject any other."""
AGENT = "agent"
"""The role in an episode of a single agent."""
STRICT: ConfigDict = {"extra": "forbid", "allow_inf_nan": False}
"""How pydantic reads a line: unknown fields, NaN and infinity are mistakes."""

Position = tuple[float, float]
Range = tuple[float, float]
Action = int | float | tuple[int | float, ...]


@dataclass(frozen=True)
class Tag:
    """An agent that was caught."""

    __pydantic_config__ = STRICT

    step: int
    """Number of steps taken so far, the one with the tag included."""
    agent: int
    """Index of the caught agent in `agents`."""
    position: Position
    """Its position at that moment."""


@dataclass(frozen=True)
class AgentPath:
    """The part of one agent in an episode or match of T steps."""

    __pydantic_config__ = STRICT

    role: str
    """Its role; `agent` in an episode of a single agent."""
    steps: int
    """Number of steps that it took part in. Later entries of the lists below have no meaning."""
    action: tuple[Action, ...]
    """Its actions as passed to the environment, [T]: a number, or a list of numbers."""
    reward: tuple[float, ...]
    """Its rewards, [T]."""
    position: tuple[Position, ...] | None = None
    """x and y before each step and at the end, [T + 1]; null if the environment has no positions."""
    heading: tuple[float, ...] | None = None
    """The direction that it faces, in radians counterclockwise from the x axis, [T + 1]; null if unknown."""


@dataclass(frozen=True)
class Trajectory:
    """One episode or match."""

    __pydantic_config__ = STRICT

    format: int
    """Version of the format."""
    run: str
    """Id of the run; any name for files from elsewhere."""
    env: str
    """Id of the environment."""
    kind: str
    """How it was played: train, eval, confirm, fresh or played."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    number: int
    """Number of the episode or match in its file, from 0, without repetition."""
    seed: int | None
    """Seed of the reset; null if it is unknown."""
    length: int
    """Number of steps, T."""
    outcome: str | None
    """The outcome that the environment reported, such as `tag` or `timeout`; `terminated` or `truncated` for
    a single agent; null if it is unknown, or if the episode was stopped."""
    winner: str | None
    """The role that has won, an empty string for a draw, or null if it is unknown or there is none."""
    cast: dict[str, str]
    """Role -> player: `learner`, `scripted:NAME`, `random`, `person` or another name."""
    agents: tuple[AgentPath, ...]
    """All agents; the order within a role is the order of its seats."""
    arena: Arena | None = None
    """The field and its walls; null if the environment declares none."""
    distance: tuple[float, ...] | None = None
    """Distance between the closest agents of different roles after each step, [T]; null without positions."""
    tags: tuple[Tag, ...] = ()
    """The agents that were caught, in order."""
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    """Further numbers that the environment reported at the end."""

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(self.cast)

    @property
    def is_match(self) -> bool:
        """True if it has several roles."""
        return self.roles != (AGENT,)

    @property
    def has_positions(self) -> bool:
        return any(agent.position for agent in self.agents)

    def of_role(self, role: str) -> list[AgentPath]:
        return [agent for agent in self.agents if agent.role == role]

    def rewards(self, role: str) -> Array:
        """Returns the rewards of a role, [T, seats] float64."""
        columns = [agent.reward for agent in self.of_role(role)]
        return np.stack([np.array(column, np.float64) for column in columns], axis=1)

    def actions(self, role: str) -> Array:
        """Returns the actions of a role, [T, seats] or [T, seats, elements]."""
        return np.stack([np.array(agent.action) for agent in self.of_role(role)], axis=1)

    def result(self) -> str:
        """Returns outcome and winner as a few words for a title."""
        if self.outcome is None:
            return "unknown outcome"
        if not self.is_match or self.winner is None:
            return self.outcome
        return f"{self.outcome}: " + ("draw" if self.winner == DRAW else f"{self.winner} won")


def extent(trajectories: Sequence[Trajectory]) -> tuple[Range, Range]:
    """Returns the ranges of x and y that show all of these trajectories: their arenas or, without one, the
    positions with a margin."""
    corners: list[Array] = []
    for one in trajectories:
        if one.arena is not None:
            corners.append(np.array([one.arena.x, one.arena.y]).T)
            continue
        points = np.concatenate([np.array(a.position) for a in one.agents if a.position])
        margin = 0.05 * float(np.ptp(points, axis=0).max()) or 0.5
        corners.append(np.stack([points.min(0) - margin, points.max(0) + margin]))
    low, high = np.min(corners, (0, 1)).tolist(), np.max(corners, (0, 1)).tolist()
    return (low[0], high[0]), (low[1], high[1])
