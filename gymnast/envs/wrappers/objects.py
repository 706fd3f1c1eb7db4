"""The objects of an Atari game as a vector: position, velocity and presence of each.

Positions are in pixels and velocities in pixels per step, both within declared bounds and not normalized.
An object that is absent, or was absent a step before, has velocity 0, since reappearing is not a
movement. An absent object keeps its last position.
"""

from __future__ import annotations

from typing import SupportsFloat, Unpack

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, EnvWrapper, Info, ResetArguments
from gymnast.envs.suites.ram import LAYOUTS, Position, RamLayout
from gymnast.errors import EnvError

Array = np.ndarray
_FRAMES = 4
"""Frames per step for which the layouts declare the maximum velocities."""


def wrap(env: Env, cfg: EnvConfig) -> Env:
    layout = LAYOUTS.get(getattr(env.unwrapped, "_game", ""))
    if layout is None:
        what = f"the memory layout of {cfg.id} is unknown (known: {', '.join(LAYOUTS)})"
        raise EnvError(what, at="env.view", fix="set env.view to image or ram")
    return ObjectFeatures(env, layout, cfg.frames_per_step)


def object_components(layout: RamLayout, frames: int = _FRAMES) -> list[tuple[str, float, float]]:
    """Returns name, low and high of every feature, in order. `frames`: frames per step, to which velocities
    are proportional."""
    components: list[tuple[str, float, float]] = []
    for thing in layout.objects:
        components += [(f"{thing.name} {axis.name}", axis.low, axis.high) for axis in thing.axes]
        for axis in thing.axes:
            speed = axis.speed * frames / _FRAMES
            components.append((f"{thing.name} {axis.name} velocity", -speed, speed))
        if thing.can_disappear:
            components.append((f"{thing.name} is there", 0, 1))
    return components + [(feature.name, feature.low, feature.high) for feature in layout.features]


class ObjectFeatures(EnvWrapper):
    """Replaces the console RAM by the features of `object_components`, in the same order."""

    def __init__(self, env: Env, layout: RamLayout, frames: int) -> None:
        super().__init__(env)
        self._layout = layout
        _, lows, highs = zip(*object_components(layout, frames), strict=True)
        self._low, self._high = np.array(lows, np.float32), np.array(highs, np.float32)
        self.observation_space = gym.spaces.Box(self._low, self._high)
        # position of an object that has not appeared yet in the episode
        self._centers = [
            tuple((axis.low + axis.high) / 2 for axis in thing.axes) for thing in layout.objects
        ]

    def reset(self, **kwargs: Unpack[ResetArguments]) -> tuple[Array, Info]:
        ram, info = self.env.reset(**kwargs)
        self._previous: tuple[Position, ...] = (None,) * len(self._centers)
        self._last_position = list(self._centers)
        return self._features(np.asarray(ram)), info

    def step(self, action: object) -> tuple[Array, SupportsFloat, bool, bool, Info]:
        ram, reward, terminated, truncated, info = self.env.step(action)
        return self._features(np.asarray(ram)), reward, terminated, truncated, info

    def _features(self, ram: Array) -> Array:
        """Returns the features for the current RAM; velocities are differences to the previous call."""
        positions, row = self._layout.read_positions(ram), list[float]()
        for i, (thing, now, before) in enumerate(
            zip(self._layout.objects, positions, self._previous, strict=True)
        ):
            if now is not None:
                self._last_position[i] = now
            row += self._last_position[i]
            if now is None or before is None:
                row += (0.0,) * len(thing.axes)
            else:
                row += [a - b for a, b in zip(now, before, strict=True)]
            if thing.can_disappear:
                row.append(float(now is not None))
        self._previous = positions
        row += self._layout.read_features(ram)
        return np.clip(np.array(row, np.float32), self._low, self._high)
