"""Fewer points of a long series, such that spikes stay visible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

MIN_POINTS = 2


def downsample(values: Sequence[float], points: int) -> list[int]:
    """Returns the indices of at most `points` of the values, ascending; all of them if they are not more.

    The values are divided into buckets of equal numbers, of which the minimum and the maximum are kept; the
    first and the last value are kept if `points` is at least 4. A bucket of NaN alone keeps its first NaN, so
    that the gap stays visible. Raises ValueError if `points` is below MIN_POINTS.
    """
    if points < MIN_POINTS:
        raise ValueError(f"a series cannot have fewer than {MIN_POINTS} points")
    n = len(values)
    if n <= points:
        return list(range(n))
    ends = [0, n - 1] if points >= 4 else []
    first, last = (1, n - 1) if ends else (0, n)
    buckets = (points - len(ends)) // 2
    edges = [first + i * (last - first) // buckets for i in range(buckets + 1)]
    kept = {*ends}
    for a, b in pairwise(edges):
        numbers = [i for i in range(a, b) if not math.isnan(values[i])]
        if numbers:
            kept |= {min(numbers, key=values.__getitem__), max(numbers, key=values.__getitem__)}
        else:
            kept |= {a} if b > a else set()
    return sorted(kept)
