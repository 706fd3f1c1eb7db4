"""Key moments of an episode: the few steps to look at first, found in the columns of its step table.

Every kind but the end looks for outliers in a series: steps whose distance from the median is several times
the usual one (the median absolute deviation, so that the outliers themselves do not count as usual), and
large enough to matter. Of neighboring steps only the largest is marked, so that one spike gives one mark. A
large value error counts even if it is no outlier, because value errors change slowly: one that lasts makes
itself usual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

Array = np.ndarray
MomentKind = Literal["value_error", "td_error", "value_drop", "surprise", "reward", "end"]
MAX_PER_KIND = 5
"""Maximum number of key moments of one kind."""
OUTLIER = 4.5
"""Distance from the median, in robust standard deviations, from which on a step is an outlier."""
NOTICEABLE = 0.02
"""Smallest value error, TD error or fall of the value, as a share of the largest value or reward; and
smallest reward, as a share of the largest one, both measured from the median."""
LARGE = 0.2
"""Value error that counts without being an outlier, as a share of the largest value or reward, if it is also
twice the median one."""
SURPRISING_NATS = 1.0
"""Smallest number of nats by which the log-probability of a surprising action is below its expectation: an
action that is e times less likely than usual."""
DROP_STEPS = 5
"""Number of steps within which the value falls in a sudden drop."""


@dataclass(frozen=True)
class KeyMoment:
    """A step to look at."""

    step: int
    """Index of the step."""
    kind: MomentKind
    """value_error: the value was far from the discounted return that followed. td_error: a large TD error.
    value_drop: the value fell suddenly. surprise: an action that the policy rarely chooses. reward: an
    unusual reward. end: the last step."""
    size: float
    """Size relative to the largest of its kind in this episode, from 0 to 1."""
    text: str
    """A few words that say what happened."""


def key_moments(table: Mapping[str, Array]) -> list[KeyMoment]:
    """Returns the key moments of an episode, ordered by step. `table`: its step table; kinds whose columns it
    lacks are left out."""
    finders: tuple[Callable[[Mapping[str, Array]], list[KeyMoment]], ...] = (
        _value_errors,
        _td_errors,
        _value_drops,
        _surprises,
        _rewards,
        _end,
    )
    return sorted((m for find in finders for m in find(table)), key=lambda moment: moment.step)


def _value_errors(table: Mapping[str, Array]) -> list[KeyMoment]:
    if "value_error_learned" not in table:
        return []
    error, factor, unit = table["value_error_learned"], *_units(table)
    value = table["value_learned"].astype(np.float64)

    def text(t: int) -> str:
        expected, collected = value[t] * factor, (value[t] - error[t]) * factor
        return f"the value is {_number(expected)}, but {_number(collected)} followed{unit}"

    size, magnitude = np.abs(error), _magnitude(table)
    large = max(LARGE * magnitude, 2 * float(np.nanmedian(size)) if len(size) else 0.0)
    return _marks("value_error", error, size, text, least=NOTICEABLE * magnitude, large=large)


def _td_errors(table: Mapping[str, Array]) -> list[KeyMoment]:
    if "td_error_learned" not in table:
        return []
    error, factor, unit = table["td_error_learned"], *_units(table)

    def text(t: int) -> str:
        better = "better" if error[t] > 0 else "worse"
        return f"{_number(abs(error[t]) * factor)} {better} than expected in one step{unit}"

    least = NOTICEABLE * _magnitude(table)
    return _marks("td_error", error, np.abs(error), text, least=least)


def _value_drops(table: Mapping[str, Array]) -> list[KeyMoment]:
    if "value_learned" not in table:
        return []
    value, (factor, unit) = table["value_learned"].astype(np.float64), _units(table)
    after = value[np.minimum(np.arange(len(value)) + DROP_STEPS, len(value) - 1)]

    def text(t: int) -> str:
        ends = f"{_number(value[t] * factor)} to {_number(after[t] * factor)}"
        return f"the value falls from {ends}{unit}"

    fall, least = value - after, NOTICEABLE * _magnitude(table)
    return _marks("value_drop", fall, fall, text, least=least, apart=DROP_STEPS)


def _surprises(table: Mapping[str, Array]) -> list[KeyMoment]:
    if "logprob" not in table or "entropy" not in table:
        return []
    logprob = table["logprob"].astype(np.float64)
    # The entropy is the mean of the negative log-probability: above 0 is less likely than usual.
    excess = -logprob - table["entropy"]
    named = table.get("action")

    def text(t: int) -> str:
        if named is None:
            usual = f"{-table['entropy'][t]:.2f}"
            return f"an unlikely action: log-probability {logprob[t]:.2f}, on average {usual}"
        return f"{named[t]} was taken with probability {_percent(np.exp(logprob[t]))}"

    return _marks("surprise", excess, excess, text, least=SURPRISING_NATS)


def _rewards(table: Mapping[str, Array]) -> list[KeyMoment]:
    reward = table["reward_raw"]
    distance = np.abs(reward - np.median(reward)) if len(reward) else reward
    # Next to a large one, a small one is no event; and rounding never is.
    rounding = 1e-6 * float(np.abs(reward).max(initial=0.0))
    least = max(NOTICEABLE * float(distance.max(initial=0.0)), rounding)
    return _marks("reward", reward, distance, lambda t: f"reward {reward[t]:+.4g}", least=least)


def _end(table: Mapping[str, Array]) -> list[KeyMoment]:
    steps = len(table["reward_raw"])
    if not steps:
        return []
    how = "the recording ends"
    if table["terminated"][-1]:
        how = "terminated"
    elif table["truncated"][-1]:
        how = "truncated"
    total = table["reward_so_far_raw"][-1]
    text = f"{how} after {steps:,} step{'s' * (steps != 1)} with a return of {_number(total)}"
    return [KeyMoment(steps - 1, "end", 1.0, text)]


def _marks(
    kind: MomentKind,
    series: Array,
    size: Array,
    text: Callable[[int], str],
    *,
    least: float,
    large: float = np.inf,
    apart: int = 1,
) -> list[KeyMoment]:
    """Returns a moment for each of the largest outliers of a series [T]; NaN is none. `size`: how much each
    step matters, [T]; `least`: size from which on an outlier counts; `large`: size from which on any step
    does; `apart`: number of steps that two marks are at least apart."""
    known = np.isfinite(series) & np.isfinite(size)
    if not known.any():
        return []
    center = float(np.median(series[known]))
    far = np.abs(series - center) > OUTLIER * _robust_std(series[known], center)
    above = known & (far | (size >= large)) & (size > max(least, float(np.median(size[known]))))
    # Outliers within 1 % of the episode belong to one event, and so do all steps of a spike.
    apart = max(apart, len(series) // 100)
    spike = np.where(above, np.cumsum(~above), -1)  # steps of one spike have the same number
    free, moments = above.copy(), list[KeyMoment]()
    largest = float(size[above].max(initial=0.0))
    for t in np.argsort(np.where(above, -size, np.inf), kind="stable").tolist():
        if len(moments) == MAX_PER_KIND or not above[t]:
            break
        if free[t]:
            same = np.flatnonzero(spike == spike[t])
            free[max(same[0] - apart, 0) : same[-1] + apart + 1] = False
            moments.append(KeyMoment(t, kind, float(size[t]) / largest, text(t)))
    return moments


def _robust_std(x: Array, median: float) -> float:
    """Returns the standard deviation that a normal distribution with these deviations from the median would
    have; 0 for a constant series. Outliers hardly change it."""
    deviation = np.abs(x - median)
    spread = float(np.median(deviation))
    # More than half of the numbers are equal: the mean deviation says how rare the others are.
    return 1.4826 * spread if spread > 0 else 1.2533 * float(deviation.mean())


def _units(table: Mapping[str, Array]) -> tuple[float, str]:
    """Returns the factor from learned to raw rewards, and the unit for texts; (1, learned) if none exists."""
    if "value_raw" in table and len(value := table["value_learned"]):
        largest = int(np.argmax(np.abs(value)))
        if value[largest] != 0:
            return float(table["value_raw"][largest]) / float(value[largest]), ""
    return 1.0, " (learned units)"


def _magnitude(table: Mapping[str, Array]) -> float:
    """Returns the largest value or reward of an episode, in learned units."""
    columns = (table[name] for name in ("value_learned", "reward_learned") if name in table)
    return max(float(np.nanmax(np.abs(column), initial=0.0)) for column in columns)


def _number(x: float) -> str:
    return f"{x:.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
