"""How far noise reaches: deviations from the config, for the components of a Box."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box

from gymnast.config.numbers import Share
from gymnast.errors import EnvError

Array = np.ndarray


def deviations(scales: Any, space: Box, key: str) -> Array:
    """One per component, in the shape of the space."""
    size = int(np.prod(space.shape, dtype=int))
    given = scales if isinstance(scales, tuple) else (scales,) * size
    if len(given) != size:
        what = f"{len(given)} deviations for {size} components of {space}"
        raise EnvError(what, at=key, fix="give one for all, or one for each")
    is_share = np.array([isinstance(scale, Share) for scale in given])
    numbers = np.array([float(scale) for scale in given])
    width = space.high.astype(np.float64).ravel() - space.low.astype(np.float64).ravel()
    width = np.where(np.abs(width) < _OPEN, width, np.inf)
    open_ended = np.flatnonzero(is_share & ~np.isfinite(width) & (numbers > 0))
    if len(open_ended):
        what = f"component {open_ended[0]} of {space} has no bounds, so nothing is a share of them"
        raise EnvError(
            what, at=key, fix="give its deviation as a number, in a list with all others"
        )
    numbers[is_share] *= np.where(np.isfinite(width), width, 0.0)[is_share]
    return numbers.reshape(space.shape)


def within(values: Array, space: Box) -> Array:
    """Of the kind that the space holds, and inside of its bounds."""
    if not np.issubdtype(space.dtype, np.floating):
        values = np.rint(values)
    return np.clip(values, space.low, space.high).astype(space.dtype)


_OPEN = 1e30
"""Some environments write their largest float where they mean infinity."""
