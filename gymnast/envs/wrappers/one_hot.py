"""Numbers that stand for kinds of things, as one 0 or 1 for each kind."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.errors import EnvError


def around(env: gym.Env[Any, Any], cfg: EnvConfig) -> gym.Env[Any, Any]:
    space, kinds = env.observation_space, np.array(cfg.one_hot)
    if not (isinstance(space, gym.spaces.Box) and _counts(space, len(kinds))):
        what = (
            f"{cfg.id} does not show whole numbers from 0 up, {len(kinds)} along the last axis, but"
        )
        fix = "give as many counts as that axis is long"
        raise EnvError(f"{what} {space}", at="env.one_hot", fix=fix)
    first = np.cumsum([0, *kinds[:-1]])
    places, width = int(np.prod(space.shape[:-1])), int(kinds.sum())
    offset = (np.arange(places)[:, None] * width + first).reshape(space.shape)

    def spread(obs: np.ndarray) -> np.ndarray:
        if (obs >= kinds).any():
            worst = obs.reshape(-1, len(kinds)).max(axis=0).tolist()
            what = f"{cfg.id} shows {worst}, which env.one_hot {list(cfg.one_hot)} has no place for"
            raise EnvError(what, at="env.one_hot", fix="count one more than the highest number")
        out = np.zeros(places * width, dtype=np.int8)
        out[(offset + obs).ravel()] = 1
        return out

    return gym.wrappers.TransformObservation(env, spread, gym.spaces.MultiBinary(places * width))


def _counts(space: gym.spaces.Box, n: int) -> bool:
    """Whether it shows whole numbers from 0 up, n along the last axis."""
    whole = np.issubdtype(space.dtype, np.integer) and space.low.min() >= 0
    return bool(whole) and space.shape[-1:] == (n,)
