"""Delayed actions: an action takes effect a fixed number of steps after it was chosen."""

from __future__ import annotations

from collections import deque
from copy import deepcopy

import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, Info, ResetResult
from gymnast.envs.wrappers.seeded_wrapper import ActionWrapper
from gymnast.errors import EnvError
from gymnast.spaces import spaces


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
        self._pending.append(deepcopy(action))
        return self._pending.popleft()


def _idle(env: Env, configured: object) -> object:
    """Returns the action to apply before the first one takes effect: the configured one or, by default, the
    first option of each discrete element and the value nearest to 0 of a continuous one."""
    space, kind = env.action_space, spaces.convert_action_space(env.action_space)
    if configured is None:
        return kind.unpack_each(kind.unflatten(kind.idle[None]))[0]
    try:
        # through the flat form, so that lists of numbers get the shape and dtype of the space
        flat = kind.flatten(np.reshape(kind.pack(configured), kind.row_spec.shape))
        idle = kind.unpack_each(kind.unflatten(flat[None]))[0]
    except (TypeError, ValueError, AssertionError):
        idle = None
    if idle is None or not space.contains(idle):
        what = f"{configured} is not an action of {space}"
        raise EnvError(what, at="env.noise.idle", fix="set it to a valid action, or to off")
    return idle
