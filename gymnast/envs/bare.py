"""Gymnasium's own wrappers, taken off: what they do a backend does for all copies, at less cost."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

_TAKEN_OFF = (OrderEnforcing, PassiveEnvChecker, TimeLimit)


def bare(env: gym.Env[Any, Any]) -> tuple[gym.Env[Any, Any], int | None]:
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
    """Longest episode, in steps, where one is declared."""
    declared = env.spec.max_episode_steps if env.spec is not None else None
    return bare(env)[1] if declared is None else declared
