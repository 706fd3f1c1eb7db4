"""Diversity of the observations across environment copies at the same time step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gymnast.compiled import kernels

if TYPE_CHECKING:
    from gymnast.images import ObsArray

Array = np.ndarray
_SAMPLED = 16, 16, 32
"""Largest number of steps, copies and components that are sampled from a rollout."""
_COMPILED = frozenset(map(np.dtype, (np.float64, np.float32)))


def diversity(obs: ObsArray) -> float | None:
    """Returns the diversity of observations [T, N, ...] (an array, records, or `Images`) across the N copies.

    It is 0 if all copies have the same observation at every step, and about 1 if they are independent; None
    if there is only one copy or step, or nothing varies. Computed on a sample that is evenly spaced over
    steps, copies and components (or pixels).
    """
    steps, n = obs.shape[:2]
    if n < 2 or steps < 2:
        return None
    native = kernels()
    # The kernel reads the sample from the rollout with strides, without a copy.
    plain = isinstance(obs, np.ndarray) and obs.dtype in _COMPILED and obs.flags.c_contiguous
    if native is not None and plain:
        numbers = obs.reshape(steps, n, -1)
        strides = map(_stride, numbers.shape, _SAMPLED)
        return _none_if_nan(native.diversity(numbers, *strides))
    # Records (Dict and Tuple) contribute a sample of each entry, so that an image does not outnumber
    # the others.
    sampled: list[Array] = []
    parts: list[ObsArray] = [obs]
    if isinstance(obs, np.ndarray) and obs.dtype.names is not None:
        parts = [obs[name] for name in obs.dtype.names]
    for part in parts:
        # Steps and copies are selected before `Images` become an array, which copies every pixel.
        copies = part[:: _stride(steps, _SAMPLED[0]), :: _stride(n, _SAMPLED[1])]
        numbers = np.asarray(copies).reshape(*copies.shape[:2], -1)
        sampled.append(numbers[..., :: _stride(numbers.shape[2], _SAMPLED[2])])
    x = sampled[0] if len(sampled) == 1 else np.concatenate(sampled, axis=2)
    return array_diversity(x.astype(np.float64, order="C"))


def array_diversity(x: Array) -> float | None:
    """Returns the diversity of x [T, N, k]: the variance across copies within a step / the total variance.

    1 means that the time step says nothing about the observation of a copy, as for independent copies.
    The result is the mean over the components that vary; None if none does.
    """
    native = kernels()
    if native is None:
        return slow_array_diversity(x)
    return _none_if_nan(native.diversity(x))


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def slow_array_diversity(x: Array) -> float | None:
    """Returns the same as `array_diversity`, without compiled code."""
    steps, n, _ = x.shape
    mean = x.mean(axis=(0, 1))
    centered = x - mean
    total_var = np.einsum("tnk,tnk->k", centered, centered) / (steps * n - 1)
    # Analysis of variance: the squares within steps are all squares minus those between step means.
    step_mean = np.einsum("tnk->tk", centered) / n
    within_squares = (steps * n - 1) * total_var - n * np.einsum("tk,tk->k", step_mean, step_mean)
    within_var = np.maximum(within_squares, 0.0) / (steps * (n - 1))  # rounding may go below 0
    varies = total_var > 1e-12 * (mean * mean)  # less is rounding error of a constant
    return float((within_var[varies] / total_var[varies]).mean()) if varies.any() else None


def _stride(length: int, max_samples: int) -> int:
    """Returns the stride at which at most `max_samples` of `length` entries are sampled."""
    return max(-(-length // max_samples), 1)
