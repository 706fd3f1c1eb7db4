"""Activation functions in NumPy, for arrays of any shape.

`native/activations.hpp` has the same functions; torch has its own. `tanh` and `relu` work in place.
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
    """Returns x * sigmoid(x) (arXiv:1702.03118)."""
    e = np.exp(-np.abs(x))  # of a negative number, so that it cannot overflow
    return x * np.where(x < 0, e, 1.0) / (1.0 + e)


def gelu(x: Array) -> Array:
    """Returns x * P(x) with the normal CDF P, exact and not its tanh approximation (arXiv:1606.08415)."""
    tail = _normal_tail(np.abs(x))
    return x * np.where(x < 0, tail, 1.0 - tail)


def elu(x: Array) -> Array:
    """Returns x above 0 and e^x - 1 below (arXiv:1511.07289 with alpha 1)."""
    # np.where evaluates both branches; the minimum keeps e^x of large x from overflowing
    return np.where(x < 0, np.expm1(np.minimum(x, 0.0)), x)


ACTIVATIONS: dict[ActivationName, Callable[[Array], Array]] = {
    "tanh": tanh,
    "relu": relu,
    "silu": silu,
    "gelu": gelu,
    "elu": elu,
}

_TAIL_RATIO = (
    *(-0.0291459262, 0.143971677, -0.255714212, 0.159174111, -0.0231098016),
    *(0.10550799, 0.119832871, 0.139861869, 0.139621404, 0.0),
)
"""Coefficients of a polynomial in 1 / (1 + 0.35 x), highest power first, that approximates
P(-x) / e^(-x^2 / 2) with the normal CDF P. The relative error for x <= 14 is 3.2e-8. NumPy has no erf."""


def _normal_tail(x: Array) -> Array:
    """Returns P(-x), the upper tail of the standard normal with CDF P, for x >= 0 of any shape: the
    polynomial _TAIL_RATIO times e^(-x^2 / 2)."""
    x = np.minimum(
        x, 1e3
    )  # the tail is 0 long before; a larger square could overflow with a warning
    t = 1.0 / (1.0 + 0.35 * x)
    ratio = np.full_like(t, _TAIL_RATIO[0])
    # Horner's scheme, in the same order as native/activations.hpp.
    for coefficient in _TAIL_RATIO[1:]:
        ratio = ratio * t + coefficient
    return ratio * np.exp(-0.5 * x * x)
