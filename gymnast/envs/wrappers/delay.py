"""Delayed actions: an action takes effect a fixed number of steps after it was chosen."""

from __future__ import annotations

from collections import deque

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, Info, ResetResult
from gymnast.envs.wrappers.seeded_wrapper import ActionWrapper
from gymnast.errors import EnvError


def wrap(env: Env, cfg: EnvConfig) -> Env:
    return DelayedActions(env, cfg.noise.delay, _idle(env, cfg.noise.idle), masked=cfg.action_mask)


class DelayedActions(ActionWrapper):
    """Queues each action for `steps` steps. `idle` is applied until the first one arrives."""

    NAME = "delayed actions"

    def __init__(self, env: Env, steps: int, idle: object, *, masked: bool) -> None:
        super().__init__(env, masked=masked)
        self._steps, self._idle = steps, idle
        self._pending: deque[object] = deque()

    def on_reset(self, obs: object, info: Info) -> ResetResult:
        """Fills the queue with the idle action and returns observation and info. Raises EnvError if the
        environment has action masks, which a delay would make invalid."""
        self._pending = deque([self._idle] * self._steps)
        obs, info = super().on_reset(obs, info)
        if self._mask is not None:
            what = "an action that is allowed when chosen may be forbidden when it takes effect"
            raise EnvError(
                what, at="env.noise.delay", fix="set env.action_mask=off, or env.noise.delay=0"
            )
        return obs, info

    def transform_action(self, action: object) -> object:
        # A copy, because the caller may reuse the array before the action takes effect.
        self._pending.append(np.copy(action) if isinstance(action, np.ndarray) else action)
        return self._pending.popleft()


def _idle(env: Env, configured: object) -> object:
    """Returns the action to apply before the first one takes effect: the configured one or, by default, the
    first option of a discrete space and the value nearest to 0 of a Box."""
    space = env.action_space
    shape = space.shape or ()
    if configured is None:
        match space:
            case Discrete():
                return np.int64(space.start)
            case MultiDiscrete():
                return space.start.copy()
            case Box():
                return np.clip(np.zeros(space.shape), space.low, space.high).astype(space.dtype)
            case _:
                return np.zeros(shape, space.dtype)
    given = np.array(configured, space.dtype)
    if given.size == np.prod(shape, dtype=int):
        given = given.reshape(shape)
    idle = given[()] if given.ndim == 0 else given  # a NumPy scalar instead of a 0-d array
    if given.shape != shape or not space.contains(idle):
        what = f"{configured} is not an action of {space}"
        raise EnvError(what, at="env.noise.idle", fix="set it to a valid action, or to off")
    return idle
