"""One-hot encoding of observations whose numbers are category indices."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env
from gymnast.errors import EnvError


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment with its category indices as one MultiBinary vector."""
    space, n_categories = env.observation_space, np.array(cfg.one_hot)
    if not (isinstance(space, gym.spaces.Box) and _holds_indices(space, len(n_categories))):
        what = f"{cfg.id} needs category indices, {len(n_categories)} along the last axis, but has"
        fix = "give one number of categories per entry of the last axis"
        raise EnvError(f"{what} {space}", at="env.one_hot", fix=fix)
    # Each place (cell of a grid, say) becomes `width` bits, in which the block of entry k starts at first[k].
    first = np.cumsum([0, *n_categories[:-1]])
    places, width = int(np.prod(space.shape[:-1])), int(n_categories.sum())
    offset = (np.arange(places)[:, None] * width + first).reshape(space.shape)

    def encode(given: object) -> np.ndarray:
        """Returns the bits of an observation, int8 [places * width]. Raises EnvError for an index that is too
        large."""
        obs = np.asarray(given)
        if (obs >= n_categories).any():
            highest = obs.reshape(-1, len(n_categories)).max(axis=0).tolist()
            what = f"{cfg.id} returned the index {highest}, too large for env.one_hot {list(cfg.one_hot)}"
            raise EnvError(what, at="env.one_hot", fix="give at least the highest index plus one")
        out = np.zeros(places * width, dtype=np.int8)
        out[(offset + obs).ravel()] = 1
        return out

    return gym.wrappers.TransformObservation(env, encode, gym.spaces.MultiBinary(places * width))


def _holds_indices(space: gym.spaces.Box, n: int) -> bool:
    """True if the space holds whole numbers from 0 up, n along the last axis."""
    is_index = np.issubdtype(space.dtype, np.integer) and space.low.min() >= 0
    return bool(is_index) and space.shape[-1:] == (n,)
