"""Whether an environment heeds the actions."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
SAMPLED = 2048
"""Steps that are looked at, at most: the newest."""


def action_effect(obs: Array, after: Array, action: Array, valid: Array) -> float | None:
    """How much of the change of an observation [T, N, k] over a step is told by the action [T, N] of
    choices or [T, N, m] of amounts: of each component the share of its variance that actions explain,
    less what they would by chance; the largest. None where nothing changes or all actions are alike."""
    steps = max(1, SAMPLED // obs.shape[1])
    keep = valid[-steps:]
    change = (after[-steps:] - obs[-steps:])[keep].astype(np.float64)
    taken = action[-steps:][keep]
    centred = change - np.median(change, axis=0)
    most = 3.0 * np.median(np.abs(centred), axis=0)
    np.clip(centred, -most, most, out=centred, where=most > 0)  # a crash is no action's effect
    centred -= centred.mean(axis=0)
    total = np.einsum("nk,nk->k", centred, centred)
    moves = total > 1e-12 * np.einsum("nk,nk->k", change, change)
    if len(taken) < 16 or not moves.any():
        return None
    centred, total = centred[:, moves], total[moves]
    kinds = _by_choice if taken.ndim == 1 and taken.dtype.kind in "iu" else _by_amount
    found = kinds(centred, taken)
    if found is None:
        return None
    explained, freedom = found
    spare = len(taken) - 1 - freedom
    if spare < 8:
        return None
    share = explained / total
    return float(np.max(share - (1.0 - share) * freedom / spare))


def _by_choice(centred: Array, taken: Array) -> tuple[Array, int] | None:
    """Sum of squares between the actions, of each component; and its degrees of freedom."""
    _, group, count = np.unique(taken, return_inverse=True, return_counts=True)
    if len(count) < 2 or count.max() > 0.99 * len(taken):
        return None
    sums = np.zeros((len(count), centred.shape[1]))
    np.add.at(sums, group, centred)
    return (sums * sums / count[:, None]).sum(axis=0), len(count) - 1


def _by_amount(centred: Array, taken: Array) -> tuple[Array, int] | None:
    """The same by linear regression."""
    amounts = taken.reshape(len(taken), -1).astype(np.float64)
    amounts = amounts - amounts.mean(axis=0)
    amounts = amounts[:, amounts.std(axis=0) > 1e-9]
    if not amounts.shape[1]:
        return None
    fit, *_ = np.linalg.lstsq(amounts, centred, rcond=None)
    told = amounts @ fit
    return np.einsum("nk,nk->k", told, told), amounts.shape[1]
