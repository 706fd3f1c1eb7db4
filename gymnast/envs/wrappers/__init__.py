"""What may lie around an environment, in one order: training, evaluation, play and films see the same."""

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
    key: str
    """What asks for it, in the config."""
    wanted: Callable[[EnvConfig], bool]
    module: str
    """In this package; its `around(env, cfg)` makes the wrapper."""
    of_each_task: bool = False
    """It lies around the environment of every task, not around all of them together."""


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
"""Innermost first."""


def wanted(cfg: EnvConfig) -> list[Layer]:
    return [layer for layer in LAYERS if layer.wanted(cfg)]


def wrapped(env: Env, cfg: EnvConfig) -> Env:
    """With all that the config asks for; the time limit, counted in the agent's steps, stays outside."""
    return _inside(env, cfg, [x for x in wanted(cfg) if not (cfg.tasks and x.of_each_task)])


def wrapped_task(env: Env, cfg: EnvConfig) -> Env:
    """The environment of one task among several, with what each of them has of its own."""
    return _inside(env, cfg, [layer for layer in wanted(cfg) if layer.of_each_task])


def _inside(env: Env, cfg: EnvConfig, layers: list[Layer]) -> Env:
    if not layers:
        return env
    inner, limit = strip_wrappers(env)
    for layer in layers:
        inner = import_module(f"{__name__}.{layer.module}").around(inner, cfg)
    return inner if limit is None else gym.wrappers.TimeLimit(inner, limit)
