"""How far a run has come, on every clock it may be asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

CLOCKS = ("env_steps", "vec_steps", "frames", "updates", "rollouts", "episodes", "seconds")
"""Names of the counters, as rows, budgets, cadences and schedules call them."""

UNITS: dict[str, tuple[str, int]] = {
    **{clock: (clock, 1) for clock in CLOCKS},
    **{clock.removesuffix("s"): (clock, 1) for clock in CLOCKS},
    **dict.fromkeys(("s", "sec"), ("seconds", 1)),
    **dict.fromkeys(("min", "minute", "minutes"), ("seconds", 60)),
    **dict.fromkeys(("h", "hour", "hours"), ("seconds", 3600)),
}
"""Unit as written in a cadence or a schedule -> (clock, how many of its counts)."""
UNIT_NAMES = (*CLOCKS, "minutes", "hours")
"""The units that error messages list."""


@dataclass
class Clock:
    env_steps: int = 0
    """Steps taken, summed over environment copies."""
    vec_steps: int = 0
    """Steps taken by all copies together: one `env.step` of the whole vector."""
    frames: int = 0
    """Game frames: env steps times the frame skip."""
    updates: int = 0
    """Gradient updates: steps of the optimiser."""
    rollouts: int = 0
    """Rollouts collected and learned from."""
    episodes: int = 0
    """Episodes finished."""
    seconds: float = 0.0
    """Wall time spent training, over all attempts."""
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    """The budget: clock name -> total, the main one first. Training ends when any is spent."""

    def read(self, name: str) -> float:
        return getattr(self, name)

    def total(self, name: str) -> float | None:
        return self.limits.get(name)

    @property
    def main(self) -> str:
        """The budget's own clock; env steps where there is no budget."""
        return next(iter(self.limits), "env_steps")

    @property
    def progress(self) -> float | None:
        """Share of the budget used, 0..1; None without a budget."""
        shares = [min(self.read(name) / total, 1.0) for name, total in self.limits.items()]
        return max(shares, default=None)

    @property
    def spent(self) -> str | None:
        """The limit that has been reached, if any."""
        reached = (n for n, total in self.limits.items() if self.read(n) >= total)
        return next(reached, None)

    def counters(self) -> dict[str, int | float]:
        return {name: getattr(self, name) for name in CLOCKS}

    def load(self, counters: Mapping[str, int | float]) -> None:
        for f in fields(self):
            if f.name in counters:
                setattr(self, f.name, counters[f.name])
