"""Potential-based shaping, which preserves the optimal policy (Ng, Harada and Russell 1999)."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def potential_difference(phi: Array, next_phi: Array, ended: Array, *, gamma: float) -> Array:
    """Returns gamma * phi(s') - phi(s), where `phi` and `next_phi` are phi(s) and phi(s'), [T, N].

    Where `ended`, phi(s') is taken as 0, whatever `next_phi` holds: otherwise the potential of the last state
    would be a reward for ending there. `ended`: bool [T, N], see `Steps.ended`: it includes truncated steps
    only for algorithms that do not bootstrap.
    """
    return gamma * np.where(ended, 0.0, next_phi) - phi
