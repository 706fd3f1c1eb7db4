"""An environment for rendering: the same as in training or evaluation, with a render mode."""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import cached_property
from typing import Any, TypeGuard

import gymnasium as gym
import numpy as np

from gymnast.config.config import Config
from gymnast.envs.build.fast_step import no_rendering
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError
from gymnast.film.drawing import TextRenderer, scaled, text_picture
from gymnast.spaces.observations import Observation
from gymnast.spaces.spaces import Action, convert_action_space, convert_obs_space

Array = np.ndarray
RENDER_MODES = ("rgb_array", "ansi")
"""Render modes that can be turned into a picture, in order of preference."""
MIN_WIDTH = 400
"""Width in pixels; smaller pictures are enlarged by an integer factor."""
DEFAULT_FPS = 30.0
"""Default frame rate, if neither the preset nor the environment defines one."""


class EnvRenderer:
    """An open environment of a config, and its rendered pictures."""

    def __init__(self, cfg: Config, *, render: bool = True, training: bool = False) -> None:
        """`render`: open it with a renderer. `training`: with the settings and time limit of training."""
        self.name, self.text_renderer = cfg.env.id, TextRenderer()
        self._masked = cfg.env.action_mask
        self.info: dict[str, object] = {}
        """`info` of the last reset or step."""
        self.is_rendered = True
        """Whether the state after the next step may be rendered; False makes some environments faster."""
        limit = cfg.training_limit() if training else cfg.evaluation_limit()
        env = cfg.env if training else cfg.env.for_evaluation()
        self.env: gym.Env[Any, Any] = make_env(env, limit=limit)
        self.fps = float(cfg.facts.fps or self.env.metadata.get("render_fps") or DEFAULT_FPS)
        if render:
            # The render mode is a constructor argument, and which modes exist is only known from an instance.
            self.env.close()
            if (mode := self.render_mode) is None:
                raise EnvError(
                    self.no_render_mode,
                    fix='support "rgb_array" in render(), and list it in metadata["render_modes"]',
                )
            with_renderer = {"kwargs": {**cfg.env.kwargs, "render_mode": mode}}
            self.env = make_env(env.model_copy(update=with_renderer), limit=limit)

    def render(self) -> Array:
        """Returns the rendered picture of the current state, [H, W, 3] uint8."""
        try:
            rendered: object = self.env.render()
        except Exception as cause:  # user code: render() may raise anything
            message = f"{self.name} cannot be rendered: {type(cause).__name__}: {cause}"
            raise EnvError(message, fix="check what its render() requires") from cause
        if isinstance(rendered, str):
            rendered = text_picture(rendered, self.text_renderer)
        if not is_picture(rendered):
            raise EnvError(
                f"{self.name} renders {_described(rendered)}, not a uint8 picture [H, W, 3]"
            )
        return enlarged(rendered)

    @property
    def action_mask(self) -> object:
        """The environment's current action mask; None if it has none."""
        return self.info.get("action_mask") if self._masked else None

    def reset(self, seed: int) -> object:
        """Starts an episode; returns its first observation."""
        try:
            obs, self.info = self.env.reset(seed=seed)
        except Exception as cause:
            message = f"{self.name}: reset(seed={seed}) raised {type(cause).__name__}: {cause}"
            raise EnvError(message) from cause
        return obs

    def step(self, action: object) -> tuple[object, float, bool, bool]:
        """Takes a step; returns observation, reward, terminated and truncated."""
        try:
            with nullcontext() if self.is_rendered else no_rendering(self.env):
                obs, reward, terminated, truncated, self.info = self.env.step(action)
        except Exception as cause:
            message = f"{self.name}: step({action}) raised {type(cause).__name__}: {cause}"
            raise EnvError(message) from cause
        return obs, float(reward), bool(terminated), bool(truncated)

    @cached_property
    def action_space(self) -> Action:
        """The description of the environment's action space."""
        return convert_action_space(self.env.action_space)

    @cached_property
    def obs_space(self) -> Observation:
        """The description of the environment's observation space."""
        return convert_obs_space(self.env.observation_space)

    def to_env_action(self, action: Array) -> object:
        """Converts a stored action to the type that `env.step` expects."""
        return self.action_space.unpack(action)

    def close(self) -> None:
        self.env.close()

    @property
    def render_mode(self) -> str | None:
        """The preferred one of RENDER_MODES that the environment offers; None if it offers none."""
        offered = self.env.metadata.get("render_modes") or ()
        return next((mode for mode in RENDER_MODES if mode in offered), None)

    @property
    def no_render_mode(self) -> str:
        """A sentence that says that the environment cannot be rendered; empty if it can."""
        if self.render_mode is not None:
            return ""
        offered = self.env.metadata.get("render_modes") or ()
        modes = ", ".join(map(str, offered)) or "none"
        return (
            f"{self.name} has no render mode that can be filmed ({' or '.join(RENDER_MODES)}); "
            f"its render_modes: {modes}"
        )


def is_picture(rendered: object) -> TypeGuard[Array]:
    return (
        isinstance(rendered, np.ndarray)
        and rendered.dtype == np.uint8
        and rendered.shape[2:] == (3,)
    )


def enlarged(picture: Array) -> Array:
    """Returns the picture with each pixel repeated, so that it is at least MIN_WIDTH wide."""
    height, width, _ = picture.shape
    factor = math.ceil(MIN_WIDTH / width)
    return scaled(picture, width * factor, height * factor) if factor > 1 else picture


def _described(rendered: object) -> str:
    if isinstance(rendered, np.ndarray):
        return f"an array of {rendered.dtype} {list(rendered.shape)}"
    return f"a {type(rendered).__name__}"
