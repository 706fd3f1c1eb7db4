"""Whether an environment heeds the actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gymnast.compiled import kernels

Array = np.ndarray
SAMPLED = 256
"""Steps that are looked at, at most: the newest."""
FEWEST = 16
COMPONENTS = 32
"""Of an observation, at most, evenly spread."""
LEAST = 1e-9
"""Of the size of a number: what is left of it below this is rounding."""


def steps_sampled(n_envs: int) -> int:
    """Vector steps that are looked at, at most: the newest."""
    return max(1, SAMPLED // n_envs)


def action_effect(obs: Array, after: Array, action: Array, valid: Array) -> float | None:
    """How much of the change of an observation [T, N, k] over a step is told by the action, [T, N] of
    choices or [T, N, m] of amounts, beyond what the observation itself tells: of each component the
    share of its variance that actions explain, less what they would by chance; the largest.

    Both are taken after a linear fit to the observation, since a policy acts by what it sees. None
    where nothing changes or where what is seen tells the action.
    """
    steps = steps_sampled(obs.shape[1])
    keep = valid[-steps:]
    kept = np.count_nonzero(keep)
    if kept < FEWEST:
        return None
    newest = (x[-steps:] for x in (obs, after, action))
    whole = kept == keep.size
    known, reached, given = (x.reshape(-1, *x.shape[2:]) if whole else x[keep] for x in newest)
    before, change = changes(known, reached, -(-obs.shape[2] // COMPONENTS))
    taken = _as_numbers(given)
    n, seen = before.shape
    freedom = taken.shape[1]
    spare = n - 1 - seen - freedom
    if spare < 8 or not freedom:
        return None
    every = _products(np.concatenate([before, change, taken], axis=1))
    size = every.diagonal()
    unseen = _beyond(every, range(seen))
    left = unseen.diagonal()
    free = np.flatnonzero(left[2 * seen :] > 0.01 * size[2 * seen :]) + 2 * seen
    moves = np.flatnonzero(left[seen : 2 * seen] > LEAST * size[seen : 2 * seen]) + seen
    if not len(moves) or not len(free):
        return None
    share = 1.0 - _beyond(unseen, free).diagonal()[moves] / left[moves]
    return float(np.max(share - (1.0 - share) * freedom / spare))


def changes(obs: Array, after: Array, stride: int) -> tuple[Array, Array]:
    """Of observations and what followed them, [n, k], every so many-th number: as they were, and how
    they changed, jumps limited; both in float64."""
    native: Any = kernels()
    if native is None or not all(
        x.dtype == np.float32 and x.flags.c_contiguous for x in (obs, after)
    ):
        return slow_changes(obs, after, stride)
    before, change = np.empty((2, len(obs), -(-obs.shape[1] // stride)))
    native.changes(obs, after, stride, before, change)
    return before, change


def slow_changes(obs: Array, after: Array, stride: int) -> tuple[Array, Array]:
    """The same without compiled code."""
    before = obs[:, ::stride].astype(np.float64)
    return before, _without_jumps(after[:, ::stride] - before)


def _without_jumps(change: Array) -> Array:
    """A crash is no action's effect: limited to three times the usual size of a change."""
    centred = change - _median(change)
    most = 3.0 * _median(np.abs(centred))
    return np.clip(centred, -most, most, out=centred, where=most > 0)


def _median(x: Array) -> Array:
    """Of each column, as np.median says it."""
    in_order = np.sort(x, axis=0)
    middle = in_order[(len(x) - 1) // 2 : len(x) // 2 + 1]
    return np.where(np.isnan(in_order[-1]), np.nan, np.add.reduce(middle) / len(middle))


def _as_numbers(taken: Array) -> Array:
    """Choices as one column each, but for the first; amounts as they are; only what varies."""
    if taken.ndim == 1 and taken.dtype.kind in "iu":
        return (taken[:, None] == np.flatnonzero(np.bincount(taken))[1:]).astype(np.float64)
    numbers = taken.reshape(len(taken), -1).astype(np.float64)
    return numbers[:, numbers.var(axis=0) > 1e-6]


def _products(x: Array) -> Array:
    """Of each two columns of x [n, k], from their means: the sums over rows, [k, k]."""
    away = x - np.add.reduce(x) / len(x)
    return away.T @ away


def _beyond(products: Array, known: Iterable[int]) -> Array:
    """The same of what is left of all columns after a linear fit to the known ones."""
    left = products.copy()
    for k in known:
        its = left[k]
        if its[k] > LEAST * products[k, k]:  # else those before tell as much
            left -= its[:, None] * (its / its[k])
    return left
