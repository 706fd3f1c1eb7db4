"""The declaration of a metric, and how its values are formatted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple

from gymnast.text.formatting import duration

if TYPE_CHECKING:  # it imports pydantic, which commands that only read a run do not need
    from gymnast.metrics.run_history import Phase

Range = tuple[float, float]
INF = math.inf
ANY: Range = (-INF, INF)
_SMALLEST_PERCENTAGE = 0.001
"""Percentages closer to 0 are displayed as less than this."""


class Dimension(NamedTuple):
    """One dimension of a Box action or one component of a vector observation."""

    name: str
    """Empty if it has no name."""
    low: float
    high: float


@dataclass(frozen=True)
class Limits:
    """Limits of the task that are known before training, from its spaces, facts and config.

    None or an infinite value means unknown: bounds that depend on it are then open.
    """

    n_actions: int | None = None
    """Number of actions of a Discrete action space."""
    entropy: float | None = None
    """Maximum entropy of the policy for discrete spaces other than Discrete (then `n_actions` is None)."""
    action_low: float | None = None
    """Smallest value of any component of a Box action."""
    action_high: float | None = None
    obs_low: float | None = None
    """Smallest value of any component of an observation, as the environment returns it."""
    obs_high: float | None = None
    reward: Range | None = None
    """Raw reward of one step."""
    returns: Range | None = None
    """Raw return of one episode."""
    episode_steps: int | None = None
    """Length of the longest possible episode, in training or in evaluation."""
    epochs: int | None = None
    """Largest number of epochs over a rollout in one update."""
    action_labels: tuple[str, ...] = ()
    """A label per action of a Discrete action space; an empty label if it has none."""
    action_dims: tuple[Dimension, ...] = ()
    """The elements of an action, if some are continuous."""
    obs_dims: tuple[Dimension, ...] = ()
    """The components of a vector observation."""
    outcomes: tuple[str, ...] = ()
    """Names of the possible outcomes of a match between roles."""
    win_rate_range: Range | None = None
    """Range in which the win rates of the roles should stay."""

    def joined(self, other: Limits) -> Limits:
        """Returns limits that hold for both of two roles: the union of their ranges. Fields that do not
        differ between roles, such as `reward` and `outcomes`, are taken from this one."""
        labels = zip_longest(self.action_labels, other.action_labels, fillvalue="")
        return replace(
            self,
            n_actions=self.n_actions if self.n_actions == other.n_actions else None,
            entropy=_farther(max, self.entropy, other.entropy),
            action_low=_farther(min, self.action_low, other.action_low),
            action_high=_farther(max, self.action_high, other.action_high),
            obs_low=_farther(min, self.obs_low, other.obs_low),
            obs_high=_farther(max, self.obs_high, other.obs_high),
            action_labels=tuple(a if a == b else "" for a, b in labels),
            action_dims=_joined_dims(self.action_dims, other.action_dims),
            obs_dims=_joined_dims(self.obs_dims, other.obs_dims),
        )


def _farther(
    choose: Callable[[float, float], float], mine: float | None, theirs: float | None
) -> float | None:
    """Returns the bound that `choose` (min or max) selects. A bound that is unknown for one role cannot hold
    for both."""
    return None if mine is None or theirs is None else choose(mine, theirs)


def _joined_dims(
    mine: tuple[Dimension, ...], theirs: tuple[Dimension, ...]
) -> tuple[Dimension, ...]:
    """Returns the union of the ranges of each dimension. Dimensions that only one has are kept."""
    shared = tuple(_widened(a, b) for a, b in zip(mine, theirs, strict=False))
    return (*shared, *mine[len(shared) :], *theirs[len(shared) :])


def _widened(mine: Dimension, theirs: Dimension) -> Dimension:
    """Returns the union of two ranges, with the name if both have the same."""
    name = mine.name if mine.name == theirs.name else ""
    return Dimension(name, min(mine.low, theirs.low), max(mine.high, theirs.high))


Bounds = Range | Callable[[Limits], Range]


@dataclass(frozen=True)
class Metric:
    name: str
    description: str
    unit: str = ""
    """`share` is stored as 0..1 and displayed in percent."""
    digits: int = 3
    """Decimals displayed. Stored values are never rounded."""
    better: Literal["higher", "lower", ""] = ""
    priority: int = 5
    """1 (highest) to 9: listed first and dropped last when space is short; 1 is also highlighted."""
    estimator: str = ""
    """How it is computed, if the description does not say."""
    window: str = "this rollout"
    """The steps, episodes or time that it is computed over."""
    exact: bool = True
    """Whether a repeated run gives bit-identical values. False for whatever reads a wall clock."""
    bounds: Bounds | None = None
    """A value outside is impossible, so it indicates a bug: an error alert at once."""
    no_bounds_reason: str = ""
    """The reason why there are no bounds, or when task-dependent bounds are open."""
    healthy: Bounds = ANY
    """A value outside is possible, but training is probably going wrong: a warning if it persists."""
    skipped_phases: frozenset[Phase] = frozenset()
    """Phases of training in which the healthy range is not checked."""
    if_low: str = ""
    """Advice for a value that stays below its healthy range."""
    if_high: str = ""
    """Advice for a value that stays above its healthy range."""
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
        """Returns the metric with its bounds and healthy range evaluated for one task."""
        if not (callable(self.bounds) or callable(self.healthy)):
            return self
        return replace(self, bounds=self.bounds_for(limits), healthy=self.healthy_for(limits))

    def bounds_for(self, limits: Limits) -> Range:
        """Returns the bounds of the metric for a task with these limits; ANY if it has none."""
        if self.bounds is None:
            return ANY
        return self.bounds(limits) if callable(self.bounds) else self.bounds

    def healthy_for(self, limits: Limits) -> Range:
        return self.healthy(limits) if callable(self.healthy) else self.healthy

    def format(self, value: float) -> str:
        """Formats a value for display: rounded, with its unit. A nonzero value is never displayed as zero."""
        return _joined(*self.format_parts(value))

    def format_parts(self, value: float) -> tuple[str, str]:
        """Returns the formatted number and the unit separately, for views that align them. A time of a minute
        or more has its units in the number (`2 min 5 s`), and the unit is empty."""
        if self.unit == "s" and 60 <= value < INF:
            return duration(value), ""
        if self.unit != "share":
            return _number(value, self.digits), self.unit
        return _percentage(value * 100, self.digits), "%"

    def format_range(self, span: Range) -> str:
        """Formats a range: `0 to 0.05 nats`, `at least 1 steps`, `any`."""
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
        """Formats `change`, the difference between `value` and an earlier value, with its sign and as many
        decimals as `value` has; empty if it rounds to zero."""
        scale = 100 if self.unit == "share" else 1
        number = _number(value * scale, self.digits)
        if "e" in number:
            return f"{change * scale:+.2e}"
        # as many decimals as the value itself is displayed with
        text = f"{change * scale:+,.{len(number.partition('.')[2])}f}"
        return text if text.strip("+-0.,") else ""

    def is_improvement(self, change: float) -> bool | None:
        """Returns whether a change is an improvement; None if no direction is better or nothing changed."""
        if not self.better or change == 0 or math.isnan(change):
            return None
        return (change > 0) == (self.better == "higher")


def _joined(number: str, unit: str) -> str:
    return f"{number}{unit}" if unit in ("", "%") else f"{number} {unit}"


def _percentage(value: float, digits: int) -> str:
    """Formats a percentage like `_number`, but without exponents for values close to 0."""
    if 0 < abs(value) < _SMALLEST_PERCENTAGE:
        return f"<{_SMALLEST_PERCENTAGE}" if value > 0 else f">-{_SMALLEST_PERCENTAGE}"
    return _number(value, digits)


def _number(value: float, digits: int) -> str:
    """Formats a number with `digits` decimals, or with three significant digits if those would be too few."""
    if not math.isfinite(value):
        return str(float(value))
    if abs(value) >= 1e12:
        return f"{value:.2e}"
    if 0 < abs(value) < min(1.0, 10.0 ** (1 - digits)):
        return f"{value:.3g}"
    return f"{value + 0.0:,.{digits}f}"  # + 0.0 turns -0.0 into 0.0
