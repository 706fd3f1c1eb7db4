"""An Atari game's objects as one row of numbers: where each is, how fast it goes, whether it is there.

Places are in pixels, speeds in pixels per step, both within declared bounds and not normalised. An
object that is not there, or was not a step before, has no speed: coming back is not a movement. One
that is not there is shown where it was last.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.suites.ram import LAYOUTS, Layout, Place
from gymnast.errors import EnvError

Array = np.ndarray
_FRAMES = 4
"""Frames of a step for which the layouts declare their speeds."""


def around(env: gym.Env[Any, Any], cfg: EnvConfig) -> gym.Env[Any, Any]:
    layout = LAYOUTS.get(getattr(env.unwrapped, "_game", ""))
    if layout is None:
        what = f"the objects of {cfg.id} are not known; those of {', '.join(LAYOUTS)} are"
        raise EnvError(what, at="env.view", fix="set env.view to image or ram")
    return Objects(env, layout, cfg.frames_per_step)


def components(layout: Layout, frames: int = _FRAMES) -> list[tuple[str, float, float]]:
    """Name, low and high of every feature, in order."""
    found: list[tuple[str, float, float]] = []
    for thing in layout.moving:
        found += [(f"{thing.name} {axis.name}", axis.low, axis.high) for axis in thing.axes]
        for axis in thing.axes:
            speed = axis.speed * frames / _FRAMES
            found.append((f"{thing.name} {axis.name} velocity", -speed, speed))
        if thing.comes_and_goes:
            found.append((f"{thing.name} is there", 0, 1))
    return found + [(number.name, number.low, number.high) for number in layout.numbers]


class Objects(gym.Wrapper[Any, Any, Any, Any]):
    def __init__(self, env: gym.Env[Any, Any], layout: Layout, frames: int) -> None:
        super().__init__(env)
        self._layout = layout
        parts = components(layout, frames)
        self._low, self._high = (
            np.array([part[end] for part in parts], np.float32) for end in (1, 2)
        )
        self.observation_space = gym.spaces.Box(self._low, self._high)
        self._middles = [
            tuple((axis.low + axis.high) / 2 for axis in thing.axes) for thing in layout.moving
        ]

    def reset(self, **how: Any) -> tuple[Array, dict[str, Any]]:
        ram, info = self.env.reset(**how)
        self._before: tuple[Place, ...] = (None,) * len(self._middles)
        self._last = list(self._middles)
        return self._features(ram), info

    def step(self, action: Any) -> tuple[Array, Any, bool, bool, dict[str, Any]]:
        ram, reward, terminated, truncated, info = self.env.step(action)
        return self._features(ram), reward, terminated, truncated, info

    def _features(self, ram: Array) -> Array:
        places, row = self._layout.places(ram), list[float]()
        for i, (thing, now, before) in enumerate(
            zip(self._layout.moving, places, self._before, strict=True)
        ):
            if now is not None:
                self._last[i] = now
            row += self._last[i]
            if now is None or before is None:
                row += (0.0,) * len(thing.axes)
            else:
                row += [a - b for a, b in zip(now, before, strict=True)]
            if thing.comes_and_goes:
                row.append(float(now is not None))
        self._before = places
        row += self._layout.told(ram)
        return np.clip(np.array(row, np.float32), self._low, self._high)
