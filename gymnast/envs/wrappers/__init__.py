"""What may lie around an environment, in one order: training, evaluation, play and films see the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import gymnasium as gym

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.bare import bare

Env = gym.Env[Any, Any]


@dataclass(frozen=True)
class Layer:
    key: str
    """What asks for it, in the config."""
    wanted: Callable[[EnvConfig], bool]
    module: str
    """In this package; its `around(env, cfg)` makes the wrapper."""


LAYERS: tuple[Layer, ...] = (
    Layer("env.view", lambda cfg: cfg.view == "image", "image"),
    Layer("env.view", lambda cfg: cfg.view == "objects", "objects"),
    Layer("env.stack", lambda cfg: cfg.stack > 1, "stack"),
    Layer("env.previous_actions", lambda cfg: cfg.previous_actions > 0, "previous_actions"),
)
"""Innermost first."""


def wanted(cfg: EnvConfig) -> list[Layer]:
    return [layer for layer in LAYERS if layer.wanted(cfg)]


def wrapped(env: Env, cfg: EnvConfig) -> Env:
    """With all that the config asks for; the time limit, counted in the agent's steps, stays outside."""
    layers = wanted(cfg)
    if not layers:
        return env
    inner, limit = bare(env)
    for layer in layers:
        inner = import_module(f"{__name__}.{layer.module}").around(inner, cfg)
    return inner if limit is None else gym.wrappers.TimeLimit(inner, limit)
