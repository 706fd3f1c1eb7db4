"""Decides whether one side of a comparison is better than another by more than the noise between seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING

from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    import numpy as np

MAX_PAIRED = 12
"""Largest number of sides of which every pair is compared; else each is compared with the first."""
MIN_SEEDS = 2
"""Smallest number of seeds that have an interval."""
RELIABLE_SEEDS = 5
"""The bootstrap underestimates the noise of fewer seeds (docs/studies/seeds-and-noise.json)."""
ROUNDING = 1e-9
"""Differences below this fraction of the largest value are rounding errors of means."""
MEASURES = {"best": True, "area": True, "steps_to_threshold": False, "seconds_to_threshold": False}
"""Measures of a run other than its final score -> whether higher is better."""


@dataclass(frozen=True)
class MeanInterval:
    """A mean over seeds with its 95 % confidence interval, which a single seed does not have."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class MeasureDifference:
    """The difference of one measure between two sides of a comparison, `a` and `b`."""

    measure: str
    """best, area, steps_to_threshold or seconds_to_threshold of a run."""
    higher_is_better: bool
    difference: MeanInterval
    """Interquartile mean over the runs of `a` that have a value, minus that of `b`."""
    better: str | None
    """The better side by name; None if they are equal, or if a run has no value."""
    exceeds_noise: bool | None
    """Whether the 95 % interval of the difference excludes 0; None if `problem` says why this is unknown."""
    problem: str
    """The reason why `exceeds_noise` is unknown; empty if it is known."""


@dataclass(frozen=True)
class Improvement:
    """One side of a comparison, `a`, compared with another, `b`, by the scores of their seeds."""

    a: str
    """Name of the first side."""
    b: str
    """Name of the second side."""
    probability: float | None
    """Probability that a run of `a` scores higher than a run of `b`, where a tie counts half; the mean over
    environments. None if the sides cannot be compared."""
    low: float | None
    """Lower end of its 95 % interval; None if a side has fewer than two seeds."""
    high: float | None
    """Upper end of the interval."""
    difference: MeanInterval | None
    """Interquartile mean of the scores of `a` minus that of `b`. None for several environments, whose returns
    are on different scales."""
    better: str | None
    """The side with the higher score, `a` or `b` by name; None if they are equal or cannot be compared."""
    exceeds_noise: bool | None
    """Whether the 95 % interval of the difference excludes 0 or, for several environments, that of the
    probability excludes 0.5. None if a side has fewer than two seeds."""
    problem: str
    """The reason why `exceeds_noise` is unknown; empty if it is known."""
    caution: str
    """The reason why the comparison is unreliable: fewer than five seeds, unconfirmed scores, or scores over
    too few episodes; empty if it is reliable."""
    measures: list[MeasureDifference]
    """The same for the other measures that both sides have; empty for several environments."""


@dataclass(frozen=True)
class SideScores:
    """The scores of one side of a comparison."""

    name: str
    by_env: Mapping[str, Sequence[float]]
    """Environment -> scores, one per seed."""
    measures: Mapping[str, Sequence[float | None]] = field(default_factory=dict[str, list[float]])
    """Measure (see MEASURES) -> its value for each run; None if the run has none."""
    caveat: str = ""
    """The reason why the scores are not comparable with confirmed ones (`RunScore.caveat`); empty if they
    are."""

    def strata(self) -> list[list[float]]:
        """Returns the scores per environment, ordered so that the same scores always have the same
        intervals."""
        return [sorted(self.by_env[env]) for env in sorted(self.by_env)]

    @property
    def seeds(self) -> int:
        """Number of seeds: of the environment with the fewest."""
        return min(map(len, self.by_env.values()), default=0)


def over_seeds(
    values: Sequence[float], statistic: Callable[..., np.ndarray] | None = None
) -> MeanInterval | None:
    """Returns a statistic of one value per seed, by default the mean, with its 95 % interval; None without
    values."""
    from gymnast.rl import seed_statistics

    if not values:
        return None
    ordered = [sorted(values)]  # the order of the seeds must not change the interval
    return _estimate(statistic or seed_statistics.mean, ordered, resample=len(values) >= MIN_SEEDS)


def improvements(sides: Sequence[SideScores]) -> list[Improvement]:
    """Returns the comparison of every pair of sides; of each with the first if there are many."""
    if len(sides) > MAX_PAIRED:
        return [improvement(sides[0], other) for other in sides[1:]]
    return [improvement(a, b) for a, b in combinations(sides, 2)]


def improvement(a: SideScores, b: SideScores) -> Improvement:
    """Returns the comparison of two sides."""
    if problem := _not_comparable(a, b):
        return Improvement(a.name, b.name, None, None, None, None, None, None, problem, "", [])
    scores = a.strata(), b.strata()
    enough = min(a.seeds, b.seeds) >= MIN_SEEDS
    probability, difference = _estimates(*scores, resample=enough)
    if difference is None:
        sign, exceeds = _sign(probability, equal=0.5, size=1.0)
    else:
        sign, exceeds = _sign(difference, equal=0.0, size=_size(*scores[0], *scores[1]))
    same_scale = difference is not None
    return Improvement(
        a=a.name,
        b=b.name,
        probability=probability.mean,
        low=probability.low,
        high=probability.high,
        difference=difference,
        better={1: a.name, -1: b.name}.get(sign),  # scores are returns or win rates
        exceeds_noise=exceeds,
        problem="" if enough else _too_few(a, b),
        caution="; ".join(_cautions(a, b)),
        measures=list(_measures(a, b)) if same_scale else [],
    )


def _measures(a: SideScores, b: SideScores) -> Iterator[MeasureDifference]:
    """Yields the difference of every measure that both sides have."""
    for measure, higher_is_better in MEASURES.items():
        all_values = [side.measures.get(measure, ()) for side in (a, b)]
        first, second = (sorted(v for v in values if v is not None) for values in all_values)
        if not first or not second:
            continue
        problem = _missing(a, b, measure)
        if not problem and min(len(first), len(second)) < MIN_SEEDS:
            problem = _too_few(a, b)
        _, difference = _estimates([first], [second], resample=not problem)
        assert difference is not None  # as there is one environment
        sign, exceeds = _sign(difference, equal=0.0, size=_size(first, second))
        winner = sign if higher_is_better else -sign
        yield MeasureDifference(
            measure=measure,
            higher_is_better=higher_is_better,
            difference=difference,
            better=None if _missing(a, b, measure) else {1: a.name, -1: b.name}.get(winner),
            exceeds_noise=exceeds,
            problem=problem,
        )


def _sign(estimate: MeanInterval, *, equal: float, size: float) -> tuple[int, bool | None]:
    """Returns whether an estimate is above (1), below (-1) or at (0) the value of equal sides, and whether
    its interval excludes that value (None without an interval). `size`: the largest value it was made of."""
    lowest, highest = equal - ROUNDING * size, equal + ROUNDING * size
    exceeds = None
    if estimate.low is not None and estimate.high is not None:
        exceeds = estimate.low > highest or estimate.high < lowest
    return (estimate.mean > highest) - (estimate.mean < lowest), exceeds


def _size(*values: Sequence[float]) -> float:
    return max(abs(value) for part in values for value in part)


def _estimates(
    first: list[list[float]], second: list[list[float]], *, resample: bool
) -> tuple[MeanInterval, MeanInterval | None]:
    """Returns the probability of improvement and, for one environment, the difference of the interquartile
    means, with intervals if `resample`."""
    if all(len(scores) == 1 for scores in (*first, *second)):
        # Two single runs need no statistics, and comparing them must not import NumPy.
        pairs = [(x, y) for (x,), (y,) in zip(first, second, strict=True)]
        probability = fmean(1.0 if x > y else 0.5 if x == y else 0.0 for x, y in pairs)
        difference = MeanInterval(pairs[0][0] - pairs[0][1], None, None)
        return MeanInterval(probability, None, None), difference if len(pairs) == 1 else None
    from gymnast.rl.seed_statistics import improvement_probability, iqm_difference

    probability = _estimate(improvement_probability, first, second, resample=resample)
    if len(first) > 1:
        return probability, None
    return probability, _estimate(iqm_difference, first, second, resample=resample)


def _estimate(
    statistic: Callable[..., np.ndarray], *groups: list[list[float]], resample: bool
) -> MeanInterval:
    """Returns a statistic of groups of scores, with its interval if `resample`."""
    from gymnast.rl.seed_statistics import as_sample, bootstrap_interval

    ends = bootstrap_interval(statistic, *groups) if resample else (None, None)
    return MeanInterval(float(statistic(*map(as_sample, groups))), *ends)


def _not_comparable(a: SideScores, b: SideScores) -> str:
    """Returns the reason why two sides have no numbers in common; empty if they have."""
    for side in (a, b):
        if not side.by_env:
            return f"{side.name} has no evaluation yet"
    if a.by_env.keys() != b.by_env.keys():
        first, second = (" and ".join(sorted(side.by_env)) for side in (a, b))
        return (
            f"{a.name} was scored on {first} and {b.name} on {second}: only scores on the same "
            "environments can be compared"
        )
    return ""


def _missing(a: SideScores, b: SideScores, measure: str) -> str:
    """Returns a reason if runs have no value of a measure. The others alone would be a biased choice: the
    fastest seeds, if the measure is the number of steps to the threshold."""
    for side in (a, b):
        values = side.measures[measure]
        known = sum(value is not None for value in values)
        if known < len(values):
            return f"only {known} of {len(values)} runs of {side.name} have a value"
    return ""


def _too_few(a: SideScores, b: SideScores) -> str:
    side = a if a.seeds < MIN_SEEDS else b
    where = " of each environment" if len(side.by_env) > 1 else ""
    return (
        f"{side.name} has {count_noun(side.seeds, 'seed')}{where}: noise can only be measured with "
        f"{MIN_SEEDS} or more"
    )


def _cautions(a: SideScores, b: SideScores) -> Iterator[str]:
    side = min((a, b), key=lambda side: side.seeds)
    if MIN_SEEDS <= side.seeds < RELIABLE_SEEDS:
        yield (
            f"{side.name} has {count_noun(side.seeds, 'seed')}: with fewer than {RELIABLE_SEEDS}, noise is "
            "underestimated"
        )
    yield from (f"scores of {side.name}: {side.caveat}" for side in (a, b) if side.caveat)
