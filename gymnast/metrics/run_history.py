"""Running statistics of a run that health checks are based on, and the phases of training.

For each tracked key: short means of the latest and of the first values, the best short mean, the peak. All of
it is saved in checkpoints, so that a resumed run is judged as if it had never stopped.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from gymnast.config.plain_value import PlainValue

WINDOW = 5
"""Number of rows in a short mean."""
WARM_UP_ROWS = 5
WARM_UP_SHARE = 0.05
"""The warm-up phase lasts this share of the budget, and at least WARM_UP_ROWS rows."""
ANNEALED = 0.1
"""A learning rate below this share of its peak counts as annealed: updates hardly change anything."""
RETURN = "episode/return"
SCORE = "eval:episode/return"

Phase = Literal["warm-up", "annealed", "solved"]


@dataclass(slots=True)
class KeyStats:
    """Statistics of one key over the run so far."""

    recent: list[float] = field(default_factory=list[float])
    """The latest WINDOW values."""
    first: list[float] = field(default_factory=list[float])
    """The first WINDOW values."""
    count: int = 0
    best: float = -math.inf
    """Highest short mean."""
    best_at: float = 0.0
    """Env steps at which the short mean was highest."""
    peak: float = -math.inf
    """Highest value."""
    total: float = 0.0
    mean: float = field(init=False)
    """Mean of `recent`."""

    def __post_init__(self) -> None:
        self.mean = sum(self.recent) / len(self.recent) if self.recent else math.nan

    def add(self, value: float, now: float) -> None:
        """Adds a value that was recorded at `now` env steps. Only means of a full window can become the best
        short mean."""
        recent = self.recent
        if len(recent) == WINDOW:
            del recent[0]
        else:  # until the window is full for the first time, all values are among the first
            self.first.append(value)
        recent.append(value)
        self.count += 1
        self.total += value
        self.mean = mean = sum(recent) / len(recent)
        if value > self.peak:
            self.peak = value
        # only full windows: a short mean over one or two lucky values would stay the best for long
        if mean > self.best and len(recent) == WINDOW:
            self.best, self.best_at = mean, now

    @property
    def overall_mean(self) -> float:
        """Mean of all values."""
        return self.total / self.count


StatsRow = tuple[list[float], list[float], int, float | None, float, float | None, float]
"""The fields of KeyStats in their order, without `mean`. Not a dict, because there are many keys, and all of
them are in every checkpoint. It is a list when it was read from JSON."""


class HistoryState(TypedDict):
    """The state of the history that a checkpoint stores, as plain JSON."""

    rows: int
    """Number of rollouts."""
    tracks: dict[str, StatsRow]


class RunHistory:
    def __init__(self, keys: Collection[str], settings: Mapping[str, PlainValue]) -> None:
        """`keys`: the keys of rows to track; `settings`: dotted config key -> plain value."""
        self._keys, self.settings = tuple(sorted(keys)), settings
        self.stats: dict[str, KeyStats] = {}
        self.row: Mapping[str, float] = {}
        self.rows = 0

    def add_row(self, row: Mapping[str, float]) -> None:
        """Adds the values of the tracked keys. Keys that the row lacks and values that are not finite are
        skipped."""
        self.row = row
        now = row.get("clock/env_steps", 0.0)
        self.rows = int(row.get("clock/rollouts", self.rows + 1))
        for key in self._keys:
            value = row.get(key)
            if value is None or not math.isfinite(value):
                continue
            stats = self.stats.get(key)
            if stats is None:
                stats = self.stats[key] = KeyStats()
            stats.add(value, now)

    # ---- statistics ---------------------------------------------------------------------------

    def has(self, *keys: str) -> bool:
        """Returns whether all of these keys have had a finite value."""
        return all(map(self.stats.__contains__, keys))

    def recent_mean(self, key: str) -> float:
        """Returns the mean of the latest WINDOW values of a key, or of all if there are fewer. Raises
        KeyError if it has none."""
        return self.stats[key].mean

    def initial_mean(self, key: str) -> float:
        """Returns the mean of the first WINDOW values of a key, or of all if there are fewer. Raises KeyError
        if it has none."""
        values = self.stats[key].first
        return sum(values) / len(values)

    def setting(self, key: str, default: PlainValue = None) -> PlainValue:
        """Returns the value of a setting (dotted key); `default` if the run does not have it, None if it is
        `off`."""
        value = self.settings.get(key, default)
        return None if value == "off" else value

    def numeric_setting(self, key: str, default: float) -> float:
        """Returns a setting (dotted key) as a number: the highest value of a schedule; `default` if it is off
        or missing."""
        # Imported here because it loads pydantic, which commands that only read rows do without.
        from gymnast.config.schedule import Schedule

        value = self.setting(key)
        return default if value is None else Schedule.parse(value).highest

    @property
    def threshold(self) -> float | None:
        value = self.setting("facts.threshold")
        return value if isinstance(value, int | float) else None

    @property
    def progress(self) -> float | None:
        """Share of the budget used, 0 to 1; None without a budget."""
        return self.row.get("progress/share")

    def share_without_improvement(self) -> float:
        """Returns the share of the budget (without a budget, of all steps so far) since the short mean of the
        training return was highest."""
        steps, best_at = self.row["clock/env_steps"], self.stats[RETURN].best_at
        share = (steps - best_at) / max(steps, 1.0)
        return share if self.progress is None else share * self.progress

    # ---- phases -------------------------------------------------------------------------------

    def phases(self) -> set[Phase]:
        """Returns the phases that training is in now; several can hold at once."""
        phases: set[Phase] = set()
        if self.rows <= WARM_UP_ROWS or (self.progress or 1.0) < WARM_UP_SHARE:
            phases.add("warm-up")
        lr = self.stats.get("hyper/lr")
        if lr is not None and lr.recent[-1] <= ANNEALED * lr.peak:
            phases.add("annealed")
        if self.is_solved:
            phases.add("solved")
        return phases

    @property
    def is_solved(self) -> bool:
        """Whether the latest training or evaluation return reaches the threshold."""
        goal = self.threshold
        if goal is None:
            return False
        both = (self.stats.get(key) for key in (RETURN, SCORE))
        return any(stats is not None and stats.recent[-1] >= goal for stats in both)

    # ---- saving and restoring -----------------------------------------------------------------

    def state(self) -> HistoryState:
        """Returns, as plain JSON, what a resumed run needs: the number of rollouts and the statistics of
        every key."""
        tracks: dict[str, StatsRow] = {
            key: (
                [*t.recent],
                [*t.first],
                t.count,
                _plain(t.best),
                t.best_at,
                _plain(t.peak),
                t.total,
            )
            for key, t in self.stats.items()
        }
        return {"rows": self.rows, "tracks": tracks}

    def load(self, state: HistoryState) -> None:
        self.rows = state["rows"]
        self.stats = {
            key: KeyStats([*recent], [*first], count, _float(best), at, _float(peak), total)
            for key, (recent, first, count, best, at, peak, total) in state["tracks"].items()
        }


def _plain(value: float) -> float | None:
    """Returns None for minus infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


def _float(value: float | None) -> float:
    return -math.inf if value is None else value
