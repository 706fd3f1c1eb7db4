"""An environment that can be looked at: the same as in training, with a renderer."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.config import Config
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError
from gymnast.film.lettering import Letters, scaled, text_picture

Array = np.ndarray
MODES = ("rgb_array", "ansi")
"""Kinds of rendering that give a picture, the better first."""
MIN_WIDTH = 400
"""Smaller pictures are enlarged by a whole factor."""
USUAL_FPS = 30.0
"""Where neither the preset nor the environment says how fast an episode looks natural."""


@contextmanager
def without_screen() -> Iterator[None]:
    """Let environments that draw with pygame or MuJoCo do so where there is no display."""
    before = dict(os.environ)
    os.environ["SDL_VIDEODRIVER"] = os.environ["SDL_AUDIODRIVER"] = "dummy"
    if sys.platform == "linux":
        os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        yield
    finally:
        for name in ("SDL_VIDEODRIVER", "SDL_AUDIODRIVER", "MUJOCO_GL"):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]


class Stage:
    """A live environment of a config, and pictures of it."""

    def __init__(self, cfg: Config[Any], *, draws: bool = True, training: bool = False) -> None:
        """`draws`: pictures are wanted. `training`: with the time limit of training episodes."""
        self.name, self.letters = cfg.env.id, Letters()
        self._masked = cfg.env.action_mask
        self.info: dict[str, Any] = {}
        """What the environment said beside its last observation."""
        limit = cfg.training_limit() if training else cfg.evaluation_limit()
        env = cfg.env if training else cfg.env.scored()
        self.env: gym.Env[Any, Any] = make_env(env, limit=limit)
        self.fps = float(cfg.facts.fps or self.env.metadata.get("render_fps") or USUAL_FPS)
        if draws:
            mode = self._mode()
            self.env.close()
            shown = {"kwargs": {**cfg.env.kwargs, "render_mode": mode}}
            self.env = make_env(env.model_copy(update=shown), limit=limit)

    def picture(self) -> Array:
        """What the environment shows now, [H, W, 3] uint8."""
        try:
            drawn: Any = self.env.render()
        except Exception as cause:
            what = f"{self.name} cannot be drawn: {type(cause).__name__}: {cause}"
            raise EnvError(what, fix="see what its render() needs") from cause
        if isinstance(drawn, str):
            drawn = text_picture(drawn, self.letters)
        if not is_picture(drawn):
            raise EnvError(f"{self.name} draws {_described(drawn)}, not a picture [H, W, 3]")
        return enlarged(drawn)

    @property
    def mask(self) -> Any:
        """Which actions are allowed now, as the environment says it; None where it does not."""
        return self.info.get("action_mask") if self._masked else None

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        """Observation, reward, terminated, truncated."""
        try:
            obs, reward, terminated, truncated, self.info = self.env.step(action)
        except Exception as cause:
            what = f"{self.name}: step({action}) raised {type(cause).__name__}: {cause}"
            raise EnvError(what) from cause
        return obs, float(reward), bool(terminated), bool(truncated)

    def takes(self, action: Array) -> Any:
        """A stored action as the environment takes it."""
        return int(action) if isinstance(self.env.action_space, gym.spaces.Discrete) else action

    def close(self) -> None:
        self.env.close()

    def _mode(self) -> str:
        offered = self.env.metadata.get("render_modes") or ()
        for mode in MODES:
            if mode in offered:
                return mode
        kinds = f"only {', '.join(map(str, offered))}" if offered else "none"
        self.env.close()
        raise EnvError(
            f"{self.name} has no renderer that gives pictures (render_modes: {kinds})",
            fix='let it render "rgb_array", and name that in its metadata["render_modes"]',
        )


def is_picture(drawn: Any) -> bool:
    return isinstance(drawn, np.ndarray) and drawn.dtype == np.uint8 and drawn.shape[2:] == (3,)


def enlarged(picture: Array) -> Array:
    height, width, _ = picture.shape
    factor = math.ceil(MIN_WIDTH / width)
    return scaled(picture, width * factor, height * factor) if factor > 1 else picture


def _described(drawn: Any) -> str:
    if isinstance(drawn, np.ndarray):
        return f"an array of {drawn.dtype} {list(drawn.shape)}"
    return f"a {type(drawn).__name__}"
