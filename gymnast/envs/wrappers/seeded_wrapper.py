"""Base classes for wrappers with randomness: each episode gets its own random stream from its seed.

There is no generator state to save: the same seed and actions give the same episode.
"""

from __future__ import annotations

import numpy as np

from gymnast.envs.env_types import Env, EnvWrapper, Info, Options, ResetResult, StepResult
from gymnast.seeds import stream
from gymnast.spaces import spaces


class SeededWrapper(EnvWrapper):
    """A wrapper whose `rng` is seeded anew by every reset."""

    NAME = ""
    """Name of the random stream; different names give independent streams."""

    def reset(self, *, seed: int | None = None, options: Options = None) -> ResetResult:
        """Seeds `rng` for the episode, resets the environment and returns what `on_reset` makes of its
        observation and info."""
        # Without a seed, Gymnasium's own generator provides one, as for an unwrapped environment.
        root = int(self.np_random.integers(2**31)) if seed is None else seed
        self.rng = self.make_rng(root)
        return self.on_reset(*self.env.reset(seed=seed, options=options))

    def make_rng(self, seed: int, *more: str) -> np.random.Generator:
        """Returns the random stream of this wrapper for an episode; `more` names independent parts of it."""
        return stream(seed, self.NAME, *more)

    def on_reset(self, obs: object, info: Info) -> ResetResult:
        """Returns the first observation and info of an episode. `rng` is already seeded."""
        return obs, info


class ActionWrapper(SeededWrapper):
    """A wrapper that may replace the action. `info["applied_action"]` is the one that was applied."""

    def __init__(self, env: Env, *, masked: bool) -> None:
        """`masked`: respect the environment's `info["action_mask"]`."""
        super().__init__(env)
        self._masked, self._kind = masked, spaces.convert_action_space(env.action_space)
        self._mask: object = None

    def on_reset(self, obs: object, info: Info) -> ResetResult:
        self._store_mask(info)
        return obs, info

    def step(self, action: object) -> StepResult:
        applied = self.transform_action(action)
        obs, reward, terminated, truncated, info = self.env.step(applied)
        self._store_mask(info)
        # An inner wrapper's applied_action wins: it is the one that reached the environment.
        return obs, reward, terminated, truncated, {"applied_action": applied, **info}

    def transform_action(self, action: object) -> object:
        """Returns the action to apply instead of the chosen one."""
        raise NotImplementedError

    def current_mask(self) -> np.ndarray | None:
        """Returns the current mask, the masks of all elements concatenated; None if everything is allowed."""
        return None if self._mask is None else spaces.as_masks(self._kind, [self._mask])[0]

    def _store_mask(self, info: Info) -> None:
        self._mask = info.get("action_mask") if self._masked else None
