"""Standard deviations of noise, from the config, for the components of a Box."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from gymnast.config.numbers import Share
from gymnast.config.sections.noise import Scales
from gymnast.errors import EnvError

Array = np.ndarray


def noise_std(scales: Scales, space: Box, key: str) -> Array:
    """Returns the standard deviation of each component, in the shape of the space. `scales`: one for all
    components or a tuple with one for each; a percentage refers to the range of the component. `key`: the
    config key, for messages. Raises EnvError for a wrong number of scales, and for a percentage of a
    component without bounds."""
    size = int(np.prod(space.shape, dtype=int))
    per_component = scales if isinstance(scales, tuple) else (scales,) * size
    if len(per_component) != size:
        what = f"{len(per_component)} standard deviations for {size} components of {space}"
        raise EnvError(what, at=key, fix="give one for all components, or one for each")
    is_share = np.array([isinstance(scale, Share) for scale in per_component])
    numbers = np.array([float(scale) for scale in per_component])
    width = space.high.astype(np.float64).ravel() - space.low.astype(np.float64).ravel()
    width = np.where(np.abs(width) < _OPEN, width, np.inf)
    # 0 % of an unbounded component is no noise, which is fine.
    open_ended = np.flatnonzero(is_share & ~np.isfinite(width) & (numbers > 0))
    if len(open_ended):
        what = f"component {open_ended[0]} of {space} has no bounds, so a percentage has no meaning"
        raise EnvError(
            what, at=key, fix="give its standard deviation as a number, in a list with all others"
        )
    numbers[is_share] *= np.where(np.isfinite(width), width, 0.0)[is_share]
    return numbers.reshape(space.shape)


def clip_to_space(values: Array, space: Box) -> Array:
    """Returns the values clipped to the bounds of the space, with its dtype; rounded if that is integer."""
    if not np.issubdtype(space.dtype, np.floating):
        values = np.rint(values)
    return np.clip(values, space.low, space.high).astype(space.dtype)


_OPEN = 1e30
"""Width from which a range counts as unbounded: some environments write the largest float for infinity."""
