"""Shaping that cannot change which policy is best (Ng, Harada and Russell 1999)."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def difference(before: Array, after: Array, ended: Array, *, gamma: float) -> Array:
    """gamma * phi(s') - phi(s), from potentials [T, N] of the states that actions began in and led to.

    Where nothing follows (`ended`) phi(s') is 0, whatever `after` holds there: else the last state's
    potential would be a prize for ending there. A time limit ends nothing for who bootstraps.
    """
    return gamma * np.where(ended, 0.0, after) - before
