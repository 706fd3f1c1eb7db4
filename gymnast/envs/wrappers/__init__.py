"""The wrappers that a config can put around an environment, in a fixed order.

Training, evaluation, play and films all use the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import gymnasium as gym

from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.noise import is_noisy
from gymnast.envs.build.strip_wrappers import strip_wrappers

Env = gym.Env[Any, Any]


@dataclass(frozen=True)
class Layer:
    """A wrapper and the config that asks for it."""

    key: str
    """Config key that asks for it."""
    wanted: Callable[[EnvConfig], bool]
    module: str
    """Module of this package; its `around(env, cfg)` returns the wrapped environment."""
    of_each_task: bool = False
    """True if it wraps the environment of each task, not the environment that combines them."""


LAYERS: tuple[Layer, ...] = (
    Layer("env.randomize", lambda cfg: bool(cfg.randomize), "randomize", of_each_task=True),
    Layer("env.noise.sticky", lambda cfg: cfg.noise.sticky > 0, "sticky"),
    Layer("env.noise.delay", lambda cfg: cfg.noise.delay > 0, "delay"),
    Layer("env.noise.drop", lambda cfg: cfg.noise.drop > 0, "drop"),
    Layer("env.noise.action", lambda cfg: is_noisy(cfg.noise.action), "action_noise"),
    Layer("env.keep", lambda cfg: bool(cfg.keep), "keep"),
    Layer("env.view", lambda cfg: cfg.view == "image", "image"),
    Layer("env.view", lambda cfg: cfg.view == "objects", "objects"),
    Layer("env.one_hot", lambda cfg: bool(cfg.one_hot), "one_hot"),
    Layer("env.noise.obs", lambda cfg: is_noisy(cfg.noise.obs), "obs_noise"),
    Layer("env.stack", lambda cfg: cfg.stack > 1, "stack"),
    Layer("env.previous_actions", lambda cfg: cfg.previous_actions > 0, "previous_actions"),
)
"""Innermost first. The order matters: noise on observations, for example, applies to the processed image,
and frames are stacked after the noise."""


def wanted(cfg: EnvConfig) -> list[Layer]:
    """Returns the wrappers that the config asks for, innermost first."""
    return [layer for layer in LAYERS if layer.wanted(cfg)]


def wrapped(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment in all wrappers that the config asks for. The time limit stays outermost, since
    it counts the agent's steps."""
    return _wrap(
        env, cfg, [layer for layer in wanted(cfg) if not (cfg.tasks and layer.of_each_task)]
    )


def wrapped_task(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment of one of several tasks in the wrappers that each task has of its own."""
    return _wrap(env, cfg, [layer for layer in wanted(cfg) if layer.of_each_task])


def _wrap(env: Env, cfg: EnvConfig, layers: list[Layer]) -> Env:
    if not layers:
        return env
    inner, limit = strip_wrappers(env)
    for layer in layers:
        inner = import_module(f"{__name__}.{layer.module}").around(inner, cfg)
    return inner if limit is None else gym.wrappers.TimeLimit(inner, limit)
