"""What a metric's declaration says, and how its value is written for people."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from gymnast.metrics.seen import Phase
from gymnast.text.wording import duration

Range = tuple[float, float]
INF = math.inf
ANY: Range = (-INF, INF)


class Part(NamedTuple):
    """One number of an action or of an observation."""

    name: str
    """Empty where nobody named it."""
    low: float
    high: float


@dataclass(frozen=True)
class Limits:
    """What is known of the task before training, from its spaces, facts and config.

    None, or an infinite end, means unknown: bounds that depend on it then claim nothing.
    """

    n_actions: int | None = None
    """Number of actions of a Discrete action space."""
    entropy: float | None = None
    """Highest entropy of a choice, where it is not one of n_actions."""
    action_low: float | None = None
    """Smallest value of any component of a Box action."""
    action_high: float | None = None
    obs_low: float | None = None
    """Smallest value of any component of an observation, as the environment gives it."""
    obs_high: float | None = None
    reward: Range | None = None
    """Raw reward of one step."""
    returns: Range | None = None
    """Raw return of one episode."""
    episode_steps: int | None = None
    """Longest possible episode, in training or in evaluation."""
    epochs: int | None = None
    """Most passes over a rollout that one update may make."""
    options: tuple[str, ...] = ()
    """A label per action of a Discrete action space, empty where it has none."""
    amounts: tuple[Part, ...] = ()
    """Of a Box action."""
    components: tuple[Part, ...] = ()
    """Of an observation that is a vector."""
    outcomes: tuple[str, ...] = ()
    """How a match between roles may end."""
    band: Range | None = None
    """Where the win rates of roles should stay."""

    def joined(self, other: Limits) -> Limits:
        """What bounds either of two roles."""
        lower = ("action_low", "obs_low")
        upper = ("entropy", "action_high", "obs_high")
        found: dict[str, Any] = {}
        for name in (*lower, *upper):
            mine, theirs = getattr(self, name), getattr(other, name)
            least = min if name in lower else max
            found[name] = None if mine is None or theirs is None else least(mine, theirs)
        for name in ("amounts", "components"):
            both = zip_longest(getattr(self, name), getattr(other, name))
            found[name] = tuple(_widened(mine or theirs, theirs or mine) for mine, theirs in both)
        found["n_actions"] = self.n_actions if self.n_actions == other.n_actions else None
        labels = zip_longest(self.options, other.options, fillvalue="")
        found["options"] = tuple(a if a == b else "" for a, b in labels)
        return replace(self, **found)


def _widened(mine: Part, theirs: Part) -> Part:
    name = mine.name if mine.name == theirs.name else ""
    return Part(name, min(mine.low, theirs.low), max(mine.high, theirs.high))


Bounds = Range | Callable[[Limits], Range]


@dataclass(frozen=True)
class Metric:
    name: str
    description: str
    unit: str = ""
    """`share` is stored as 0..1 and shown in per cent."""
    digits: int = 3
    """Decimals shown. What is stored is never rounded."""
    better: Literal["higher", "lower", ""] = ""
    priority: int = 5
    """1 is seen first and dropped last where room is short; 1 is also highlighted."""
    estimator: str = ""
    """How it is computed, where the description leaves that open."""
    window: str = "this rollout"
    """What it is computed over."""
    exact: bool = True
    """Whether a repeated run gives the same bits. False for whatever reads a wall clock."""
    bounds: Bounds | None = None
    """Outside is impossible, so a bug: an error at once."""
    no_bounds_reason: str = ""
    """Why there are no bounds, or when those that depend on the task are open."""
    healthy: Bounds = ANY
    """Outside is possible, but training is likely going wrong: a warning when it lasts."""
    excused: frozenset[Phase] = frozenset()
    """Phases in which its healthy range is not held against it."""
    if_low: str = ""
    """What to try when the value stays below its healthy range."""
    if_high: str = ""
    in_table: bool = False
    """Whether the live table shows it."""

    @property
    def section(self) -> str:
        return self.name.partition("/")[0]

    @property
    def label(self) -> str:
        """The name within its section."""
        return self.name.partition("/")[2]

    def resolved(self, limits: Limits) -> Metric:
        """The same metric with bounds and healthy range fixed for one task."""
        if not (callable(self.bounds) or callable(self.healthy)):
            return self
        return replace(self, bounds=self.bounds_for(limits), healthy=self.healthy_for(limits))

    def bounds_for(self, limits: Limits) -> Range:
        if self.bounds is None:
            return ANY
        return self.bounds(limits) if callable(self.bounds) else self.bounds

    def healthy_for(self, limits: Limits) -> Range:
        return self.healthy(limits) if callable(self.healthy) else self.healthy

    def format(self, value: float) -> str:
        """For people: rounded, with the unit. What is not zero never shows as zero."""
        return _joined(*self.parts(value))

    def parts(self, value: float) -> tuple[str, str]:
        """Number and unit, for views that align them."""
        if self.unit == "s" and 60 <= value < INF:
            return duration(value), ""
        shown = value * 100 if self.unit == "share" else value
        return _number(shown, self.digits), "%" if self.unit == "share" else self.unit

    def format_range(self, span: Range) -> str:
        """`0 to 0.05 nats`, `at least 1 steps`, `any`."""
        scale, unit = (100, "%") if self.unit == "share" else (1, self.unit)
        low, high = (f"{end * scale:.6g}" for end in span)
        if span == ANY:
            return "any"
        if span[0] == -INF:
            return f"at most {_joined(high, unit)}"
        if span[1] == INF:
            return f"at least {_joined(low, unit)}"
        return f"{low} to {_joined(high, unit)}"

    def format_change(self, change: float, value: float) -> str:
        """How the value moved: signed, as finely as the value is shown; empty below that."""
        scale = 100 if self.unit == "share" else 1
        number = _number(value * scale, self.digits)
        if "e" in number:
            return f"{change * scale:+.2e}"
        text = f"{change * scale:+,.{len(number.partition('.')[2])}f}"
        return text if text.strip("+-0.,") else ""

    def improved(self, change: float) -> bool | None:
        """Whether a change is for the better; None where neither direction is, or nothing moved."""
        if not self.better or change == 0 or math.isnan(change):
            return None
        return (change > 0) == (self.better == "higher")


def _joined(number: str, unit: str) -> str:
    return f"{number}{unit}" if unit in ("", "%") else f"{number} {unit}"


def _number(value: float, digits: int) -> str:
    """`digits` decimals; three significant digits where that would show too few of them."""
    if not math.isfinite(value):
        return str(float(value))
    if abs(value) >= 1e12:
        return f"{value:.2e}"
    if 0 < abs(value) < min(1.0, 10.0 ** (1 - digits)):
        return f"{value:.3g}"
    return f"{value + 0.0:,.{digits}f}"
