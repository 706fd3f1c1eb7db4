"""Removes Gymnasium's standard wrappers: a backend does their work for all copies at a lower cost."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from gymnast.envs.env_types import Env


class DefaultTimeLimit(TimeLimit):
    """Truncates the episodes of an environment that has no time limit of its own."""


_STRIPPED = (OrderEnforcing, PassiveEnvChecker, TimeLimit, DefaultTimeLimit)


def strip_wrappers(env: Env) -> tuple[Env, int | None]:
    """Returns the environment without Gymnasium's outer wrappers, and the time limit that the caller must
    now apply. Stops at the first other wrapper and keeps everything inside it."""
    limit: int | None = None
    # `type(env) in`, not isinstance: a subclass of these wrappers may do more than the original.
    while isinstance(env, gym.Wrapper) and type(env) in _STRIPPED:
        if isinstance(env, TimeLimit):
            max_steps = env._max_episode_steps
            limit = max_steps if limit is None else min(limit, max_steps)
        env = env.env
    return env, limit


def with_limit_of(env: Env, inner: Env) -> Env:
    """Returns `inner` with the time limit that `strip_wrappers` removes from `env`, if there is one. A
    default limit stays marked as a default."""
    limit = strip_wrappers(env)[1]
    kind = DefaultTimeLimit if has_default_limit(env) else TimeLimit
    return inner if limit is None else kind(inner, limit)


def time_limit(env: Env) -> int | None:
    """Returns the maximum episode length in steps, None if no limit is declared or applied."""
    declared = env.spec.max_episode_steps if env.spec is not None else None
    if declared is not None:
        return declared
    applied = [e._max_episode_steps for e in _layers(env) if isinstance(e, TimeLimit)]
    return min(applied, default=None)


def has_default_limit(env: Env) -> bool:
    """True if gymnast's default time limit applies, because the environment has none."""
    return any(isinstance(layer, DefaultTimeLimit) for layer in _layers(env))


def _layers(env: Env) -> Iterator[Env]:
    """Yields the environment and everything that it wraps; with several tasks, those of the first."""
    inner: Env | None = env
    while inner is not None:
        yield inner
        inner = inner.env if isinstance(inner, gym.Wrapper) else getattr(inner, "first_task", None)
