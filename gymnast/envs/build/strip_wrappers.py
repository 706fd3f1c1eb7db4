"""Gymnasium's own wrappers, taken off: what they do a backend does for all copies, at less cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit


class DefaultTimeLimit(TimeLimit):
    """Truncates the episodes of an environment that has no time limit of its own."""


_TAKEN_OFF = (OrderEnforcing, PassiveEnvChecker, TimeLimit, DefaultTimeLimit)


def strip_wrappers(env: gym.Env[Any, Any]) -> tuple[gym.Env[Any, Any], int | None]:
    """The environment beneath, and the time limit that is now to be kept by whoever steps it. What
    somebody else put around it stays, and all that is inside of that."""
    limit: int | None = None
    while isinstance(env, gym.Wrapper) and type(env) in _TAKEN_OFF:
        if isinstance(env, TimeLimit):
            own = env._max_episode_steps
            limit = own if limit is None else min(limit, own)
        env = env.env
    return env, limit


def time_limit(env: gym.Env[Any, Any]) -> int | None:
    """Longest episode, in steps, where a limit is declared or applied."""
    declared = env.spec.max_episode_steps if env.spec is not None else None
    if declared is not None:
        return declared
    applied = [e._max_episode_steps for e in _layers(env) if isinstance(e, TimeLimit)]
    return min(applied, default=None)


def has_default_limit(env: gym.Env[Any, Any]) -> bool:
    return any(isinstance(layer, DefaultTimeLimit) for layer in _layers(env))


def _layers(env: gym.Env[Any, Any]) -> Iterator[gym.Env[Any, Any]]:
    """The environment and all that it wraps; of several tasks, the first."""
    inner: gym.Env[Any, Any] | None = env
    while inner is not None:
        yield inner
        inner = inner.env if isinstance(inner, gym.Wrapper) else getattr(inner, "first_task", None)
