"""What those who judge a run know of it: short means, where it began, its best, and its settings."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

WINDOW = 5
"""Rows in a short mean."""
WARM_UP_ROWS = 5
WARM_UP_SHARE = 0.05
"""Of the budget: so long nothing is settled."""
ANNEALED = 0.1
"""Of its peak: a learning rate below this moves nothing any more."""
RETURN = "episode/return"
SCORE = "eval:episode/return"

Phase = Literal["warm-up", "annealed", "solved"]


@dataclass(slots=True)
class Track:
    """One key so far."""

    recent: list[float] = field(default_factory=list[float])
    """Its latest values, as many as a short mean holds."""
    first: list[float] = field(default_factory=list[float])
    """As many of its first."""
    count: int = 0
    best: float = -math.inf
    """Highest short mean."""
    best_at: float = 0.0
    """Reading of the clock at that time."""
    peak: float = -math.inf
    """Highest value."""
    total: float = 0.0
    mean: float = field(init=False)
    """Of the latest values."""

    def __post_init__(self) -> None:
        self.mean = sum(self.recent) / len(self.recent) if self.recent else math.nan

    def add(self, value: float, now: float) -> None:
        recent = self.recent
        if len(recent) == WINDOW:
            del recent[0]
        else:
            self.first.append(value)
        recent.append(value)
        self.count += 1
        self.total += value
        self.mean = mean = sum(recent) / len(recent)
        if value > self.peak:
            self.peak = value
        if mean > self.best and len(recent) == WINDOW:
            self.best, self.best_at = mean, now

    @property
    def usual(self) -> float:
        """Mean of all values."""
        return self.total / self.count


class RunHistory:
    def __init__(self, keys: Collection[str], settings: Mapping[str, Any]) -> None:
        """`keys`: what is remembered; `settings`: dotted key -> plain value."""
        self._keys, self.settings = tuple(sorted(keys)), settings
        self.tracks: dict[str, Track] = {}
        self.row: Mapping[str, float] = {}
        self.rows = 0

    def take(self, row: Mapping[str, float]) -> None:
        self.row = row
        now = row.get("clock/env_steps", 0.0)
        self.rows = int(row.get("clock/rollouts", self.rows + 1))
        for key in self._keys:
            value = row.get(key)
            if value is None or not math.isfinite(value):
                continue
            track = self.tracks.get(key)
            if track is None:
                track = self.tracks[key] = Track()
            track.add(value, now)

    # ---- what has been ------------------------------------------------------------------------

    def has(self, *keys: str) -> bool:
        return all(map(self.tracks.__contains__, keys))

    def now(self, key: str) -> float:
        """Mean of the latest values."""
        return self.tracks[key].mean

    def first(self, key: str) -> float:
        """Mean of the first values."""
        values = self.tracks[key].first
        return sum(values) / len(values)

    def setting(self, key: str, default: Any = None) -> Any:
        """A plain value; None for what is off or not there."""
        value = self.settings.get(key, default)
        return None if value == "off" else value

    def number(self, key: str, default: float) -> float:
        """The number that a setting is; of a schedule its highest; the default where it is off."""
        from gymnast.config.schedule import (
            Schedule,  # loads pydantic, which readers of rows do without
        )

        value = self.setting(key)
        return default if value is None else Schedule.parse(value).highest

    @property
    def threshold(self) -> float | None:
        return self.setting("facts.threshold")

    @property
    def progress(self) -> float | None:
        """Share of the budget used."""
        return self.row.get("progress/share")

    def without_gain(self) -> float:
        """Share of the budget since the short mean of the training return was highest; without a
        budget, of all steps."""
        steps, best_at = self.row["clock/env_steps"], self.tracks[RETURN].best_at
        gone = (steps - best_at) / max(steps, 1.0)
        return gone if self.progress is None else gone * self.progress

    # ---- phases -------------------------------------------------------------------------------

    def phases(self) -> set[Phase]:
        found: set[Phase] = set()
        if self.rows <= WARM_UP_ROWS or (self.progress or 1.0) < WARM_UP_SHARE:
            found.add("warm-up")
        lr = self.tracks.get("hyper/lr")
        if lr is not None and lr.recent[-1] <= ANNEALED * lr.peak:
            found.add("annealed")
        if self.solved:
            found.add("solved")
        return found

    @property
    def solved(self) -> bool:
        """As good as asked for, in training or in the last evaluation."""
        goal = self.threshold
        if goal is None:
            return False
        tracks = (self.tracks.get(key) for key in (RETURN, SCORE))
        return any(track is not None and track.recent[-1] >= goal for track in tracks)

    # ---- to go on as if it had not stopped ----------------------------------------------------

    def state(self) -> dict[str, Any]:
        tracks = {
            key: [
                [*t.recent],
                [*t.first],
                t.count,
                _plain(t.best),
                t.best_at,
                _plain(t.peak),
                t.total,
            ]
            for key, t in self.tracks.items()
        }
        return {"rows": self.rows, "tracks": tracks}

    def load(self, state: Mapping[str, Any]) -> None:
        self.rows = state["rows"]
        self.tracks = {
            key: Track([*recent], [*first], count, _float(best), at, _float(peak), total)
            for key, (recent, first, count, best, at, peak, total) in state["tracks"].items()
        }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _float(value: float | None) -> float:
    return -math.inf if value is None else value
