"""The counters that measure the progress of a run, and its budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

ClockName = Literal[
    "env_steps", "vec_steps", "frames", "updates", "rollouts", "episodes", "seconds"
]
"""Names of the counters, as used in rows, budgets, intervals and schedules."""
CLOCKS: tuple[ClockName, ...] = get_args(ClockName)
DEFAULT_CLOCK: ClockName = "vec_steps"
"""The clock of every view, unless the user's settings name another: steps of the vector environment, so that
runs with different numbers of copies are comparable. Views ask `gymnast.settings.view_clock`."""

UNITS: dict[str, tuple[str, int]] = {
    **{clock: (clock, 1) for clock in CLOCKS},
    **{clock.removesuffix("s"): (clock, 1) for clock in CLOCKS},
    **dict.fromkeys(("s", "sec"), ("seconds", 1)),
    **dict.fromkeys(("min", "minute", "minutes"), ("seconds", 60)),
    **dict.fromkeys(("h", "hour", "hours"), ("seconds", 3600)),
}
"""Units of intervals and schedules: unit -> (clock, counts of that clock per unit)."""
UNIT_NAMES = (*CLOCKS, "minutes", "hours")
"""The units that error messages list."""


def clock_label(clock: str) -> str:
    """Returns the words for a clock in output: `env steps` for env_steps, `gradient steps` for updates,
    since what algorithms call an update has many of them."""
    return "gradient steps" if clock == "updates" else clock.replace("_", " ")


def budget_share(counters: Mapping[str, int | float], limits: Mapping[str, float]) -> float | None:
    """Returns the used share of a budget, 0..1; None without a budget. `counters`: clock -> count;
    `limits`: clock -> limit."""
    # Any limit ends the run, so the one that is used up most defines the progress.
    shares = [min(counters.get(name, 0) / total, 1.0) for name, total in limits.items()]
    return max(shares, default=None)


def budget_in_env_steps(
    counters: Mapping[str, int | float], limits: Mapping[str, float]
) -> float | None:
    """Returns a budget in env steps; that in vector steps is converted. None if it is on another clock.
    `counters` and `limits` as in `budget_share`."""
    if "env_steps" in limits:
        return limits["env_steps"]
    steps = counters.get("vec_steps", 0)
    if "vec_steps" not in limits or not steps:
        return None
    return limits["vec_steps"] * counters["env_steps"] / steps


def remaining_seconds(
    counters: Mapping[str, int | float], limits: Mapping[str, float], rates: Mapping[str, float]
) -> float | None:
    """Returns the wall time until the first limit of a budget is reached at the present speed; None if that
    is unknown. `rates`: clock -> counts per second; `counters` and `limits` as in `budget_share`."""
    left = {name: max(total - counters.get(name, 0), 0.0) for name, total in limits.items()}
    times = [rest / rates[name] for name, rest in left.items() if rates.get(name, 0.0) > 0]
    return 0.0 if 0.0 in left.values() else min(times, default=None)


@dataclass
class Clock:
    """The counters of a run. Schedules, intervals and the budget are functions of them."""

    env_steps: int = 0
    """Number of environment steps, summed over all copies."""
    vec_steps: int = 0
    """Number of steps of the vector environment: one step of every copy."""
    frames: int = 0
    """Number of game frames: env steps times the frame skip."""
    updates: int = 0
    """Number of gradient steps of the optimizer."""
    rollouts: int = 0
    """Number of rollouts that were collected and learned from."""
    episodes: int = 0
    """Number of finished episodes."""
    seconds: float = 0.0
    """Wall time spent training, summed over all sessions of the run."""
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    """The budget: clock name -> limit, the main one first. Training ends when any limit is reached."""

    def read(self, name: str) -> float:
        return getattr(self, name)

    def limit(self, name: str) -> float | None:
        return self.limits.get(name)

    @property
    def main_clock(self) -> str:
        """Name of the budget's main clock; env_steps without a budget."""
        return next(iter(self.limits), "env_steps")

    @property
    def progress(self) -> float | None:
        """Used share of the budget, 0..1; None without a budget."""
        return budget_share(self.counters(), self.limits)

    @property
    def reached_limit(self) -> str | None:
        """Name of the first limit that has been reached; None if none has."""
        reached = (n for n, total in self.limits.items() if self.read(n) >= total)
        return next(reached, None)

    def counters(self) -> dict[str, int | float]:
        """Returns all counters by name, without the limits."""
        return {name: getattr(self, name) for name in CLOCKS}

    def load(self, counters: Mapping[str, int | float]) -> None:
        """Restores the counters of a checkpoint; counters that it lacks keep their values."""
        for f in fields(self):
            if f.name in counters:
                setattr(self, f.name, counters[f.name])
