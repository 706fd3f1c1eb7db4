"""Contributions of the components of an observation to a number that a policy computes from it.

`function` maps observations [B, ...] to numbers [B]; it is only evaluated, so any policy can be explained.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
Function = Callable[[Array], Array]
MAX_BATCH = 8192
"""Number of observations that are evaluated at once."""
MAX_SEGMENTS = 512
TOLERANCE = 0.01
"""Largest error of the sum of all contributions, as a share of the difference that they explain."""


def integrated_gradients(function: Function, x: Array, baseline: Array) -> Array:
    """Returns the contribution of each component of a vector x [n] (Sundararajan et al. 2017), [n].

    The straight line from the baseline to x is divided into segments. In each, central differences across the
    segment replace the gradient: component i contributes f(m + d_i / 2) - f(m - d_i / 2), where m is the
    middle and d_i the change of component i. The sum is f(x) - f(baseline), with an error that falls with the
    square of the number of segments; that is doubled until the error is below TOLERANCE.
    """
    x, baseline = x.astype(np.float64), baseline.astype(np.float64)
    total = np.diff(_evaluated(function, np.stack([baseline, x])))[0]
    moved = np.flatnonzero(x != baseline)
    contributions = np.zeros(len(x))
    if not len(moved):
        return contributions
    segments = 16
    while True:
        contributions[moved] = _differences(function, x, baseline, moved, segments)
        error = abs(contributions.sum() - total)
        if error <= TOLERANCE * abs(total) + 1e-4 or segments >= MAX_SEGMENTS:
            return contributions
        segments *= 2


def _differences(
    function: Function, x: Array, baseline: Array, moved: Array, segments: int
) -> Array:
    """Returns the contributions of the components `moved`, summed over the segments."""
    change = (x - baseline) / segments
    half = np.zeros((len(moved), len(x)))
    half[np.arange(len(moved)), moved] = change[moved] / 2
    sums = np.zeros(len(moved))
    at_once = max(1, MAX_BATCH // (2 * len(moved)))
    for first in range(0, segments, at_once):
        number = np.arange(first, min(first + at_once, segments))
        middle = (baseline + change * (number[:, None] + 0.5))[:, None]  # [S, 1, n]
        rows = np.stack([middle + half, middle - half])  # [2, S, moved, n]
        after, before = _evaluated(function, rows.reshape(-1, len(x))).reshape(rows.shape[:-1])
        sums += (after - before).sum(0)
    return sums


def shapley_values(
    function: Callable[[Array], Array], count: int, *, permutations: int = 32, seed: int = 0
) -> Array:
    """Returns the Shapley value of each of `count` components, estimated with random orders, [count].

    `function` maps booleans [B, count] to numbers [B]: which components have their own value, and not that of
    the baseline. In each order, components are added one by one; a component contributes the change of the
    number. The contributions of every order, hence their mean, sum to f(all) - f(none)."""
    rng = np.random.default_rng(seed)
    sums = np.zeros(count)
    for _ in range(permutations if count > 1 else 1):
        order = rng.permutation(count)
        for forward in (order, order[::-1]):  # antithetic orders reduce the variance
            present = np.zeros((count + 1, count), bool)
            for k, component in enumerate(forward):
                present[k + 1 :, component] = True
            sums[forward] += np.diff(_evaluated(function, present))
    return sums / (2 * (permutations if count > 1 else 1))


def _evaluated(function: Function, rows: Array) -> Array:
    """Returns the numbers of all rows, [B] float64."""
    parts = [function(rows[i : i + MAX_BATCH]) for i in range(0, len(rows), MAX_BATCH)]
    return np.concatenate(parts).astype(np.float64)
