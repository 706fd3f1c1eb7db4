"""Everything that the monitor knows about one run, whichever kind of file it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from gymnast.errors import RunError
from gymnast.metrics.specs import split_key
from gymnast.runs.curve import SCORED_STEPS_KEY

Array = np.ndarray
ENV_STEPS = "clock/env_steps"
"""The column of the common x axis."""


@dataclass(frozen=True, eq=False)
class MatchTable:
    """The stored matches of a run, or the episodes of a single agent: one entry per match in every array."""

    version: Array
    """[matches] int64: env steps of the policy that played it."""
    kind: tuple[str, ...]
    """[matches] eval, confirm or train."""
    length: Array
    """[matches] int64: number of steps."""
    outcome: tuple[str, ...]
    """[matches] The outcome that the environment reported, `unknown` if it reported none."""
    returns: Mapping[str, Array]
    """Role -> [matches] float64: its return, NaN where it did not play. The role of a single agent is
    empty."""
    players: Mapping[str, tuple[str, ...]]
    """Role -> [matches] the policy or player that had it: `learner`, `scripted:weak`, ..."""

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, eq=False)
class MonitoredRun:
    """One run: its rows by column, its stored matches and what is known about it."""

    approach: str
    """The approach it belongs to: its tag if it has exactly one, else the variant of its preset, else the
    preset."""
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

    def column(self, name: str) -> Array:
        """Returns a column, [rows]. Raises RunError if the run has no such column."""
        if name in self.columns:
            return self.columns[name]
        close = get_close_matches(name, list(self.columns), n=1)
        raise RunError(
            f"run {self.run} has no column {name!r}",
            at=self.sources[0],
            fix=f"the closest column is {close[0]!r}" if close else "`gymnast rows` lists columns",
        )

    def has(self, name: str) -> bool:
        """Returns whether a row has a value in this column."""
        return name in self.columns and not bool(np.isnan(self.columns[name]).all())

    def points(self, name: str) -> tuple[Array, Array]:
        """Returns the env steps and the values of the rows that have one, [points] each, with increasing env
        steps. An evaluation is at the env steps of the version that it scored. Raises RunError if the run has
        no such column."""
        values = self.column(name)
        is_evaluation = split_key(name)[0][:1] == ("eval",) and SCORED_STEPS_KEY in self.columns
        steps = self.columns[SCORED_STEPS_KEY] if is_evaluation else self.env_steps
        known = ~np.isnan(values) & ~np.isnan(steps)
        # of several values for the same env steps, the last one counts
        last = {float(x): float(y) for x, y in zip(steps[known], values[known], strict=True)}
        xs = np.array(sorted(last), dtype=np.float64)
        return xs, np.array([last[x] for x in xs.tolist()], dtype=np.float64)

    def scoped(self, metric: str, role: str = "") -> str:
        """Returns the column of a metric for a role: `seeker:episode/return`; the metric itself for a single
        agent."""
        return f"{role}:{metric}" if role else metric
