"""Everything that the monitor knows about one run, whichever kind of file it was read from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gymnast.errors import RunError
from gymnast.metrics.specs import split_key
from gymnast.runs.curve import SCORED_STEPS_KEY
from gymnast.text.suggestions import did_you_mean

Array = np.ndarray
ENV_STEPS = "clock/env_steps"
"""The column that every run has."""
UNKNOWN = "unknown"
"""The outcome of a match whose environment reported none. It counts for no role."""


class MatchEntry(NamedTuple):
    """One stored match, or an episode of a single agent."""

    version: int
    """Env steps of the policy that played it."""
    kind: str
    """train, eval or confirm."""
    length: int
    """Number of steps."""
    outcome: str
    """The outcome that the environment reported, or UNKNOWN."""
    returns: Mapping[str, float]
    """Role -> its return. The role of a single agent is empty."""
    players: Mapping[str, str]
    """Role -> the policy or player that had it."""


@dataclass(frozen=True, eq=False)
class MatchTable:
    """The stored matches of a run, or the episodes of a single agent: one entry per match in every array."""

    version: Array
    """[matches] int64: env steps of the policy that played it."""
    kind: tuple[str, ...]
    """[matches] train, eval or confirm."""
    length: Array
    """[matches] int64: number of steps."""
    outcome: tuple[str, ...]
    """[matches] The outcome that the environment reported, or UNKNOWN."""
    returns: Mapping[str, Array]
    """Role -> [matches] float64: its return, NaN where it did not play. The role of a single agent is
    empty."""
    players: Mapping[str, tuple[str, ...]]
    """Role -> [matches] the policy or player that had it: `learner`, `scripted:weak`, ...; empty where the
    role did not play."""

    def __len__(self) -> int:
        return len(self.kind)

    @staticmethod
    def from_entries(entries: Sequence[MatchEntry]) -> MatchTable:
        """Returns the table of these matches, in their order."""
        playing = dict.fromkeys(role for entry in entries for role in entry.returns)
        cast = dict.fromkeys(role for entry in entries for role in entry.players)
        return MatchTable(
            version=np.array([entry.version for entry in entries], dtype=np.int64),
            kind=tuple(entry.kind for entry in entries),
            length=np.array([entry.length for entry in entries], dtype=np.int64),
            outcome=tuple(entry.outcome for entry in entries),
            returns={
                role: np.array([entry.returns.get(role, math.nan) for entry in entries])
                for role in playing
            },
            players={
                role: tuple(entry.players.get(role, "") for entry in entries) for role in cast
            },
        )


@dataclass(frozen=True, eq=False)
class MonitoredRun:
    """One run: its rows by column, its stored matches and what is known about it."""

    approach: str
    """The approach it belongs to: its tag if it has exactly one, else the variant of its preset, else its
    algorithm."""
    run: str
    """Id of the run."""
    name: str
    env: str
    algo: str
    seed: int | None
    status: str
    roles: tuple[str, ...]
    """The learning roles; empty for a single agent."""
    sources: tuple[str, ...]
    """The files it was read from: relative to the runs directory, or as the user typed them. The first one
    has the columns."""
    env_steps: Array
    """[rows] Env steps of each row. They never decrease; an evaluation that finished late repeats those of
    its rollout."""
    columns: Mapping[str, Array]
    """Name -> [rows] float64, NaN where a row has no value. The names are those of `gymnast rows`:
    `seeker:policy/kl`, `match/tag_share`, `eval/hider:match/win_rate`."""
    matches: MatchTable | None = None
    """Stored matches or episodes; None if the source has none."""
    alerts: tuple[str, ...] = ()
    """Messages of the alerts of the run."""
    verdict: str = ""
    """Whether it is solved, in words; empty without a threshold."""
    branched_at: int | None = None
    """Env steps at which it branched off its parent; None if it is no branch."""
    clock: str = "env_steps"
    """The clock of the x axis of its charts, which is one of its columns."""

    @property
    def positions(self) -> Array:
        """Returns the position of each row on the clock, [rows]."""
        return self.columns.get(f"clock/{self.clock}", self.env_steps)

    def column(self, name: str) -> Array:
        """Returns a column, [rows]. Raises RunError if the run has no such column."""
        if name in self.columns:
            return self.columns[name]
        problem = f"run {self.run} has no column {name!r}{did_you_mean(name, self.columns)}"
        raise RunError(problem, at=self.sources[0])

    def has(self, name: str) -> bool:
        """Returns whether a row has a value in this column."""
        return name in self.columns and not bool(np.isnan(self.columns[name]).all())

    def points(self, name: str) -> tuple[Array, Array]:
        """Returns the positions on the clock and the values of the rows that have one, [points] each, with
        increasing positions. An evaluation is at the position of the version that it scored. Raises RunError
        if the run has no such column."""
        values = self.column(name)
        is_evaluation = split_key(name)[0][:1] == ("eval",) and SCORED_STEPS_KEY in self.columns
        steps = self.columns[SCORED_STEPS_KEY] if is_evaluation else self.env_steps
        known = ~np.isnan(values) & ~np.isnan(steps)
        # All clocks start together.
        places = np.interp(steps[known], [0, *self.env_steps], [0, *self.positions])
        # of several values at the same position, the last one counts
        last = {float(x): float(y) for x, y in zip(places, values[known], strict=True)}
        xs = np.array(sorted(last), dtype=np.float64)
        return xs, np.array([last[x] for x in xs.tolist()], dtype=np.float64)


def role_column(metric: str, role: str = "") -> str:
    """Returns the column of a training metric for a role: `seeker:episode/return`; the metric itself for a
    single agent."""
    return f"{role}:{metric}" if role else metric


def evaluation_column(metric: str, role: str = "") -> str:
    """Returns the column of an evaluation metric for a role: `eval/seeker:match/win_rate`; for a single agent
    `eval:episode/return`."""
    return f"eval/{role}:{metric}" if role else f"eval:{metric}"
