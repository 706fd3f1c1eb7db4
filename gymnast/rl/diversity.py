"""How different what copies of an environment show is from one another."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
MOST_PARTS = 4096
"""Of an observation, evenly chosen: pixels beyond that say nothing new."""


def diversity(obs: Array) -> float:
    """Of obs [T, N, ...]: 0 where all copies show the same at every step, about 1 where they show
    independent things.

    For each part of an observation, its variance across copies at one step, averaged over steps, by
    its variance over all steps and copies; the mean over the parts that vary. Whole numbers are
    categories: in place of the variance, the chance that two of them differ. Copies in step with
    each other are between 0 and 1: what they share is not diverse.
    """
    if obs.dtype.names is not None:
        found = [_shares(obs[name]) for name in obs.dtype.names]
        shares = np.concatenate([share for share in found if len(share)] or [np.zeros(0)])
    else:
        shares = _shares(obs)
    return float(shares.mean()) if len(shares) else 0.0


def _shares(obs: Array) -> Array:
    """Of each part that varies at all, how much of it does so across copies, 0 to 1."""
    n_steps, n = obs.shape[:2]
    flat = obs.reshape(n_steps, n, -1)
    flat = flat[..., :: max(1, flat.shape[-1] // MOST_PARTS)]
    if n < 2:
        return np.zeros(0)
    if np.issubdtype(obs.dtype, np.signedinteger):
        across = _chance_to_differ(flat.swapaxes(0, 1)).mean(0)
        whole = _chance_to_differ(flat.reshape(n_steps * n, 1, -1))[0]
    else:
        numbers = flat.astype(np.float64)
        across = (numbers - numbers[:, :1]).var(1, ddof=1).mean(0)  # the same is exactly 0
        whole = numbers.reshape(n_steps * n, -1).var(0, ddof=1)
    varies = whole > 0
    return np.clip(across[varies] / whole[varies], 0.0, 1.0)


def _chance_to_differ(categories: Array) -> Array:
    """Of two different ones of [K, ...], [...]."""
    k = len(categories)
    ordered = np.sort(categories, axis=0)
    begins = np.ones(ordered.shape, dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    # pairs that are the same: within each run of equal entries, the place within it summed up
    at = np.arange(k).reshape(-1, *[1] * (categories.ndim - 1))
    first = np.maximum.accumulate(np.where(begins, at, 0), axis=0)
    same = (at - first).sum(0)
    return 1.0 - same / (k * (k - 1) / 2)
