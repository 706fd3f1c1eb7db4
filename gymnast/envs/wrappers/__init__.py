"""The wrappers that a config can put around an environment, in a fixed order.

Training, evaluation, play and films all use the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.noise import is_noisy
from gymnast.envs.build.strip_wrappers import strip_wrappers, with_limit_of
from gymnast.envs.env_types import Env


@dataclass(frozen=True)
class WrapperSpec:
    """A wrapper and the config that asks for it."""

    key: str
    """Config key that asks for it."""
    is_enabled: Callable[[EnvConfig], bool]
    module: str
    """Module of this package; its `wrap(env, cfg)` returns the wrapped environment."""
    per_task: bool = False
    """True if it wraps the environment of each task, not the environment that combines them."""


LAYERS: tuple[WrapperSpec, ...] = (
    WrapperSpec("env.randomize", lambda cfg: bool(cfg.randomize), "randomize", per_task=True),
    WrapperSpec("env.noise.sticky", lambda cfg: cfg.noise.sticky > 0, "sticky"),
    WrapperSpec("env.noise.delay", lambda cfg: cfg.noise.delay > 0, "delay"),
    WrapperSpec("env.noise.drop", lambda cfg: cfg.noise.drop > 0, "drop"),
    WrapperSpec("env.noise.action", lambda cfg: is_noisy(cfg.noise.action), "action_noise"),
    WrapperSpec("env.keep", lambda cfg: bool(cfg.keep), "keep"),
    WrapperSpec("env.view", lambda cfg: cfg.view == "image", "image"),
    WrapperSpec("env.view", lambda cfg: cfg.view == "objects", "objects"),
    WrapperSpec("env.one_hot", lambda cfg: bool(cfg.one_hot), "one_hot"),
    WrapperSpec("env.hide", lambda cfg: bool(cfg.hide), "hide"),
    WrapperSpec("env.noise.obs", lambda cfg: is_noisy(cfg.noise.obs), "obs_noise"),
    WrapperSpec("env.stack", lambda cfg: cfg.stack > 1, "stack"),
    WrapperSpec("env.previous_actions", lambda cfg: cfg.previous_actions > 0, "previous_actions"),
)
"""Innermost first. The order matters: noise on observations, for example, applies to the processed image,
and frames are stacked after the noise."""


def enabled_wrappers(cfg: EnvConfig) -> list[WrapperSpec]:
    """Returns the wrappers that the config asks for, innermost first."""
    return [layer for layer in LAYERS if layer.is_enabled(cfg)]


def apply_wrappers(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment in all wrappers that the config asks for. The time limit stays outermost, since
    it counts the agent's steps."""
    # With several tasks, the wrappers per task are already inside, around each task's environment.
    layers = [layer for layer in enabled_wrappers(cfg) if not (cfg.tasks and layer.per_task)]
    return _wrap(env, cfg, layers)


def apply_task_wrappers(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment of one of several tasks in the wrappers that each task has of its own."""
    return _wrap(env, cfg, [layer for layer in enabled_wrappers(cfg) if layer.per_task])


def _wrap(env: Env, cfg: EnvConfig, layers: list[WrapperSpec]) -> Env:
    """Returns the environment in these wrappers. Gymnasium's standard wrappers are removed, except the time
    limit, which becomes the outermost wrapper."""
    if not layers:
        return env
    inner, _ = strip_wrappers(env)
    for layer in layers:
        inner = import_module(f"{__name__}.{layer.module}").wrap(inner, cfg)
    return with_limit_of(env, inner)
