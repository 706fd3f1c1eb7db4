"""Whether an environment heeds the actions."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
SAMPLED = 256
"""Steps that are looked at, at most: the newest."""
FEWEST = 16
COMPONENTS = 32
"""Of an observation, at most, evenly spread."""


def action_effect(obs: Array, after: Array, action: Array, valid: Array) -> float | None:
    """How much of the change of an observation [T, N, k] over a step is told by the action, [T, N] of
    choices or [T, N, m] of amounts, beyond what the observation itself tells: of each component the
    share of its variance that actions explain, less what they would by chance; the largest.

    Both are taken after a linear fit to the observation, since a policy acts by what it sees. None
    where nothing changes or where what is seen tells the action.
    """
    steps = max(1, SAMPLED // obs.shape[1])
    keep = valid[-steps:]
    if np.count_nonzero(keep) < FEWEST:
        return None
    stride = -(-obs.shape[2] // COMPONENTS)
    before = obs[-steps:, :, ::stride][keep].astype(np.float64)
    change = _without_jumps(after[-steps:, :, ::stride][keep] - before)
    taken = _as_numbers(action[-steps:][keep])
    n, seen = before.shape
    freedom = taken.shape[1]
    spare = n - 1 - seen - freedom
    if spare < 8 or not freedom:
        return None
    left = _beyond(before, np.hstack([change, taken]))
    change_left, taken_left = left[:, : change.shape[1]], left[:, change.shape[1] :]
    total = np.einsum("nk,nk->k", change_left, change_left)
    moves = total > 1e-9 * np.einsum("nk,nk->k", change, change)
    free = np.einsum("nm,nm->m", taken_left, taken_left) > 0.01 * n * taken.var(axis=0)
    if not moves.any() or not free.any():
        return None
    taken_left, change_left = taken_left[:, free], change_left[:, moves]
    cross = taken_left.T @ change_left
    gram = taken_left.T @ taken_left
    gram += 1e-9 * np.trace(gram) * np.eye(len(gram))
    share = np.einsum("mk,mk->k", cross, np.linalg.solve(gram, cross)) / total[moves]
    return float(np.max(share - (1.0 - share) * freedom / spare))


def _without_jumps(change: Array) -> Array:
    """A crash is no action's effect: limited to three times the usual size of a change."""
    centred = change - np.median(change, axis=0)
    most = 3.0 * np.median(np.abs(centred), axis=0)
    return np.clip(centred, -most, most, out=centred, where=most > 0)


def _as_numbers(taken: Array) -> Array:
    """Choices as one column each, but for the first; amounts as they are; only what varies."""
    if taken.ndim == 1 and taken.dtype.kind in "iu":
        numbers = (taken[:, None] == np.unique(taken)[1:]).astype(np.float64)
    else:
        numbers = taken.reshape(len(taken), -1).astype(np.float64)
    return numbers[:, numbers.var(axis=0) > 1e-6]


def _beyond(before: Array, numbers: Array) -> Array:
    """What is left of the columns after a linear fit to the observations."""
    spread = before.std(axis=0)
    scaled = (before - before.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    known = np.hstack([np.ones((len(before), 1)), scaled])
    gram = known.T @ known + 1e-6 * np.eye(known.shape[1])
    return numbers - known @ np.linalg.solve(gram, known.T @ numbers)
