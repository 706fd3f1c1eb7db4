"""Whether an environment heeds the actions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.compiled import kernels

Array = np.ndarray
SAMPLED = 256
"""Steps that are looked at, at most: the newest."""
FEWEST = 16
COMPONENTS = 32
"""Of an observation, at most, evenly spread."""


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
    if np.count_nonzero(keep) < FEWEST:
        return None
    stride = -(-obs.shape[2] // COMPONENTS)
    known, reached = (_rows(x[-steps:], keep) for x in (obs, after))
    before, change = changes(known, reached, stride)
    taken = _as_numbers(_rows(action[-steps:], keep))
    n, seen = before.shape
    freedom = taken.shape[1]
    spare = n - 1 - seen - freedom
    if spare < 8 or not freedom:
        return None
    left = _beyond(before, np.concatenate([change, taken], axis=1))
    change_left, taken_left = left[:, :seen], left[:, seen:]
    total = _squares(change_left)
    moves = total > 1e-9 * _squares(change)
    free = _squares(taken_left) > 0.01 * n * _away(taken)[1]
    if not moves.any() or not free.any():
        return None
    taken_left, change_left = taken_left[:, free], change_left[:, moves]
    cross = taken_left.T @ change_left
    gram = taken_left.T @ taken_left
    gram += 1e-9 * np.trace(gram) * np.eye(len(gram))
    share = np.einsum("mk,mk->k", cross, np.linalg.solve(gram, cross)) / total[moves]
    return float(np.max(share - (1.0 - share) * freedom / spare))


def _rows(x: Array, keep: Array) -> Array:
    """[steps that count, ...]"""
    return x.reshape(-1, *x.shape[2:]) if keep.all() else x[keep]


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
        numbers = (taken[:, None] == np.unique(taken)[1:]).astype(np.float64)
    else:
        numbers = taken.reshape(len(taken), -1).astype(np.float64)
    return numbers[:, _away(numbers)[1] > 1e-6]


def _beyond(before: Array, numbers: Array) -> Array:
    """What is left of the columns after a linear fit to the observations."""
    away, variance = _away(before)
    spread = np.sqrt(variance)
    known = np.empty((len(before), before.shape[1] + 1))
    known[:, 0] = 1.0
    np.divide(away, np.where(spread > 0, spread, 1.0), out=known[:, 1:])
    gram = known.T @ known + 1e-6 * np.eye(known.shape[1])
    return numbers - known @ np.linalg.solve(gram, known.T @ numbers)


def _away(x: Array) -> tuple[Array, Array]:
    """How far numbers are from the mean of their column, and the variance of each column. The bits of
    np.var, in a third of its time for so few numbers."""
    away = x - np.add.reduce(x) / len(x)
    return away, np.add.reduce(away * away) / len(x)


def _squares(x: Array) -> Array:
    """Summed, of each column."""
    return np.einsum("nk,nk->k", x, x)
