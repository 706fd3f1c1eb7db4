"""Hides components of a vector observation, such as velocities, from the policy."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env
from gymnast.errors import EnvError


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment without the components `env.hide` of its observation. Raises EnvError if it is
    not a vector, or has no such component, or none would be left."""
    space, hidden = env.observation_space, sorted(set(cfg.hide))
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
        what = f"the observation of {cfg.id} is {space}, not a vector with components to hide"
        raise EnvError(what, at="env.hide", fix="remove env.hide")
    (size,) = space.shape
    if hidden[-1] >= size or len(hidden) == size:
        what = f"{hidden} cannot be hidden from the {size} components of {cfg.id}"
        fix = f"give indices from 0 to {size - 1}, and leave at least one component"
        raise EnvError(what, at="env.hide", fix=fix)
    kept = np.setdiff1d(np.arange(size), hidden)
    visible = gym.spaces.Box(space.low[kept], space.high[kept], dtype=space.dtype.type)
    return gym.wrappers.TransformObservation(env, lambda obs: np.asarray(obs)[kept], visible)
