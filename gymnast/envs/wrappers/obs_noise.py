"""Gaussian noise on observations: on vectors and images, also inside of a Dict or Tuple."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Tuple

from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.noise import Scales
from gymnast.envs.env_types import Env, Info, ResetResult, StepResult, dict_obs
from gymnast.envs.wrappers.noise_scales import clip_to_space, noise_std
from gymnast.envs.wrappers.seeded_wrapper import SeededWrapper
from gymnast.errors import EnvError

KEY = "env.noise.obs"
AddNoise = Callable[[object, np.random.Generator], object]


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment with noise on every Box of its observations. Raises EnvError if there is none,
    or if a list of deviations is given for a Dict or Tuple."""
    scales, space = cfg.noise.obs, env.observation_space
    assert scales is not None  # otherwise this wrapper is not enabled
    if isinstance(scales, tuple) and not isinstance(space, Box):
        what = f"a list of standard deviations cannot be applied to {space}"
        raise EnvError(what, at=KEY, fix="give one for all of its Boxes, such as 2%")
    add_noise = _add_noise(space, scales)
    if add_noise is None:
        what = f"there is no Box in {space}, and Gaussian noise needs one"
        raise EnvError(what, at=KEY, fix="turn it off; env.noise.drop works on any observation")
    return ObservationNoise(env, add_noise)


class ObservationNoise(SeededWrapper):
    """Adds noise to every observation, including the first of an episode."""

    NAME = "observation noise"

    def __init__(self, env: Env, add_noise: AddNoise) -> None:
        super().__init__(env)
        self._add_noise = add_noise

    def on_reset(self, obs: object, info: Info) -> ResetResult:
        return self._add_noise(obs, self.rng), info

    def step(self, action: object) -> StepResult:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return self._add_noise(obs, self.rng), reward, terminated, truncated, info


def _add_noise(space: gym.Space[object], scales: Scales) -> AddNoise | None:
    """Returns the function that adds noise to an observation of this space; None if the space contains no
    Box. `scales`: `env.noise.obs`."""
    match space:
        case Box():
            deviation = noise_std(scales, space, KEY)
            return lambda obs, rng: clip_to_space(
                np.asarray(obs) + deviation * rng.standard_normal(deviation.shape), space
            )
        case Dict():
            parts = {name: _add_noise(entry, scales) for name, entry in space.spaces.items()}
            boxes = {name: add_noise for name, add_noise in parts.items() if add_noise is not None}
            return (lambda obs, rng: _with_noise(boxes, dict_obs(obs), rng)) if boxes else None
        case Tuple():
            items = [_add_noise(entry, scales) for entry in space.spaces]
            return (lambda obs, rng: _noisy_items(items, obs, rng)) if any(items) else None
        case _:
            return None


def _with_noise(
    boxes: dict[str, AddNoise], obs: Mapping[str, object], rng: np.random.Generator
) -> dict[str, object]:
    return {**obs, **{name: add_noise(obs[name], rng) for name, add_noise in boxes.items()}}


def _noisy_items(
    items: list[AddNoise | None], obs: object, rng: np.random.Generator
) -> tuple[object, ...]:
    assert isinstance(obs, tuple | list)
    return tuple(
        add_noise(x, rng) if add_noise else x for add_noise, x in zip(items, obs, strict=True)
    )
