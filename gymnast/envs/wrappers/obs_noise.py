"""Gaussian noise on what is seen: on numbers and images, and on those of them inside a Dict or Tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Tuple

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.wrappers.episode import Env, EpisodeRandomness, Stepped
from gymnast.envs.wrappers.scales import deviations, within
from gymnast.errors import EnvError

KEY = "env.noise.obs"
Noisy = Callable[[Any, np.random.Generator], Any]


def around(env: Env, cfg: EnvConfig) -> Env:
    scales, space = cfg.noise.obs, env.observation_space
    if isinstance(scales, tuple) and not isinstance(space, Box):
        what = f"a list of deviations has no meaning for {space}"
        raise EnvError(what, at=KEY, fix="give one for all of its Boxes, such as 2%")
    noisy = _noisy(space, scales)
    if noisy is None:
        what = f"there is no Box in {space}, and only numbers can be a little off"
        raise EnvError(what, at=KEY, fix="leave it off; env.noise.drop works on any observation")
    return ObservationNoise(env, noisy)


class ObservationNoise(EpisodeRandomness):
    NAME = "observation noise"

    def __init__(self, env: Env, noisy: Noisy) -> None:
        super().__init__(env)
        self._noisy = noisy

    def begin(self, obs: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return self._noisy(obs, self.rng), info

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return self._noisy(obs, self.rng), reward, terminated, truncated, info


def _noisy(space: Any, scales: Any) -> Noisy | None:
    """What puts noise on an observation of this space; None where nothing of it is a Box."""
    match space:
        case Box():
            deviation = deviations(scales, space, KEY)
            return lambda obs, rng: within(
                obs + deviation * rng.standard_normal(deviation.shape), space
            )
        case Dict():
            parts = {name: _noisy(entry, scales) for name, entry in space.spaces.items()}
            some = {name: noisy for name, noisy in parts.items() if noisy is not None}
            return (lambda obs, rng: {**obs, **_each(some, obs, rng)}) if some else None
        case Tuple():
            every = [_noisy(entry, scales) for entry in space.spaces]
            return (lambda obs, rng: _in_turn(every, obs, rng)) if any(every) else None
        case _:
            return None


def _each(some: dict[str, Noisy], obs: Any, rng: np.random.Generator) -> dict[str, Any]:
    return {name: noisy(obs[name], rng) for name, noisy in some.items()}


def _in_turn(every: list[Noisy | None], obs: Any, rng: np.random.Generator) -> tuple[Any, ...]:
    return tuple(noisy(x, rng) if noisy else x for noisy, x in zip(every, obs, strict=True))
