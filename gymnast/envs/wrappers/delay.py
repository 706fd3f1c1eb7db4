"""Actions that take effect some steps after they were chosen."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.wrappers.episode import ActionWrapper, Env
from gymnast.errors import EnvError


def around(env: Env, cfg: EnvConfig) -> Env:
    return DelayedActions(env, cfg.noise.delay, _idle(env, cfg.noise.idle), masked=cfg.action_mask)


class DelayedActions(ActionWrapper):
    NAME = "delayed actions"

    def __init__(self, env: Env, steps: int, idle: Any, *, masked: bool) -> None:
        super().__init__(env, masked=masked)
        self._steps, self._idle = steps, idle
        self._under_way: deque[Any] = deque()

    def begin(self, obs: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        self._under_way = deque([self._idle] * self._steps)
        obs, info = super().begin(obs, info)
        if self._mask is not None:
            what = "an action that is allowed when it is chosen may not be when it takes effect"
            raise EnvError(what, at="env.noise.delay", fix="set env.action_mask=off, or delay=0")
        return obs, info

    def instead_of(self, action: Any) -> Any:
        self._under_way.append(np.copy(action) if isinstance(action, np.ndarray) else action)
        return self._under_way.popleft()


def _idle(env: Env, given: Any) -> Any:
    """What is done before the first action takes effect, as the environment takes it."""
    space: Any = env.action_space
    if given is None:
        match space:
            case Discrete():
                return np.int64(space.start)
            case MultiDiscrete():
                return space.start.copy()
            case Box():
                return np.clip(np.zeros(space.shape), space.low, space.high).astype(space.dtype)
            case _:
                return np.zeros(space.shape, space.dtype)
    idle: Any = np.array(given, space.dtype)
    if idle.size == np.prod(space.shape, dtype=int):
        idle = idle.reshape(space.shape)
    idle = idle[()] if idle.ndim == 0 else idle  # a plain number
    if np.shape(idle) != space.shape or not space.contains(idle):
        what = f"{given} is no action of {space}"
        raise EnvError(what, at="env.noise.idle", fix="name one, or switch it off")
    return idle
