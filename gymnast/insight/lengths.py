"""Histograms of the lengths of episodes or matches, with common bins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

BINS = 24
"""Maximum number of bins of a histogram."""


def length_edges(longest: int) -> list[float]:
    """Returns the edges of at most BINS bins of equal width, from 0 to at least `longest` steps: one more
    than bins. A bin includes its upper edge."""
    width = max(1, math.ceil(longest / BINS))
    return [float(i * width) for i in range(math.ceil(longest / width) + 1)]


def count_lengths(lengths: Iterable[int], edges: Sequence[float]) -> list[int]:
    """Returns the number of lengths in each bin between the `edges` of `length_edges`."""
    counts = [0] * (len(edges) - 1)
    for length in lengths:
        counts[int((max(length, 1) - 1) // edges[1])] += 1
    return counts
