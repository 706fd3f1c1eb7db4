"""Activations in NumPy, on features of any shape. Twin of `native/activations.hpp`; torch has its own.

`tanh` and `relu` overwrite what they are given.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gymnast.config.sections.policy import ActivationName

Array = np.ndarray


def tanh(x: Array) -> Array:
    return np.tanh(x, out=x)


def relu(x: Array) -> Array:
    return np.maximum(x, 0.0, out=x)


def silu(x: Array) -> Array:
    """x times the logistic function of x, arXiv:1702.03118."""
    e = np.exp(-np.abs(x))
    return x * np.where(x < 0, e, 1.0) / (1.0 + e)


def gelu(x: Array) -> Array:
    """x times the normal distribution function of x, exact rather than by tanh, arXiv:1606.08415."""
    tail = _normal_tail(np.abs(x))
    return x * np.where(x < 0, tail, 1.0 - tail)


def elu(x: Array) -> Array:
    """e^x - 1 below 0, arXiv:1511.07289 with alpha 1."""
    return np.where(x < 0, np.expm1(np.minimum(x, 0.0)), x)


ACTIVATIONS: dict[ActivationName, Callable[[Array], Array]] = {
    "tanh": tanh,
    "relu": relu,
    "silu": silu,
    "gelu": gelu,
    "elu": elu,
}

_RATIO = (
    *(-0.0291459262, 0.143971677, -0.255714212, 0.159174111, -0.0231098016),
    *(0.10550799, 0.119832871, 0.139861869, 0.139621404, 0.0),
)
"""P(-x) / e^(-x^2 / 2) of the normal distribution function P as a polynomial of 1 / (1 + 0.35 x),
highest power first; fitted for x <= 14 to 3.2e-8 of its value. NumPy has no erf."""


def _normal_tail(x: Array) -> Array:
    """P(-x) of the normal distribution function P, for x >= 0."""
    x = np.minimum(x, 1e3)  # whose square is finite
    t = 1.0 / (1.0 + 0.35 * x)
    ratio = np.full_like(t, _RATIO[0])
    for coefficient in _RATIO[1:]:
        ratio = ratio * t + coefficient
    return ratio * np.exp(-0.5 * x * x)
