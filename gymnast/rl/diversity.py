"""How different what copies of an environment show is from one another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gymnast.compiled import kernels

Array = np.ndarray
_SAMPLED = 16, 16, 32
"""How much of a rollout tells how diverse its copies are, at most."""
_COMPILED = frozenset(map(np.dtype, (np.float64, np.float32)))


def diversity(obs: Any) -> float | None:
    """Of observations [T, N, ...] (an array, or `Images`), by a sample that is evenly spread over
    steps, copies and numbers (or pixels): 0 where all copies show the same at every step, about 1
    where they are independent. None where nothing can differ."""
    steps, n = obs.shape[:2]
    if n < 2 or steps < 2:
        return None
    names, native = obs.dtype.names, kernels()
    if native is not None and obs.dtype in _COMPILED and obs.flags.c_contiguous:
        numbers = obs.reshape(steps, n, -1)
        strides = map(_stride, numbers.shape, _SAMPLED)
        return _known(native.diversity(numbers, *strides))
    seen: list[Array] = []
    for part in [obs] if names is None else [obs[name] for name in names]:
        copies = part[:: _stride(steps, _SAMPLED[0]), :: _stride(n, _SAMPLED[1])]
        numbers = np.asarray(copies).reshape(*copies.shape[:2], -1)
        seen.append(numbers[..., :: _stride(numbers.shape[2], _SAMPLED[2])])
    whole = seen[0] if len(seen) == 1 else np.concatenate(seen, axis=2)
    return of_numbers(whole.astype(np.float64, order="C"))


def of_numbers(x: Array) -> float | None:
    """Of what N copies showed at T times, [T, N, k]: how far they are apart at the same time, as a
    share of how far they are apart at any. 0: all show the same. 1: the time does not tell what a
    copy shows, as where copies are independent of each other. The mean over components that vary;
    None where none does."""
    native = kernels()
    if native is None:
        return slow_of_numbers(x)
    return _known(native.diversity(x))


def _known(found: float) -> float | None:
    return None if math.isnan(found) else found


def slow_of_numbers(x: Array) -> float | None:
    """The same without compiled code."""
    steps, n, _ = x.shape
    centre = x.mean(axis=(0, 1))
    away = x - centre
    every = np.einsum("tnk,tnk->k", away, away) / (steps * n - 1)
    common = np.einsum("tnk->tk", away) / n  # what the copies share at each time
    squares = (steps * n - 1) * every - n * np.einsum("tk,tk->k", common, common)
    together = np.maximum(squares, 0.0) / (steps * (n - 1))
    varies = every > 1e-12 * (centre * centre)
    return float((together[varies] / every[varies]).mean()) if varies.any() else None


def _stride(length: int, wanted: int) -> int:
    """From one to the next, so that no more than so many are taken."""
    return max(-(-length // wanted), 1)
