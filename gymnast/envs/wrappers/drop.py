"""Dropped frames: with some probability a step returns the previous observation instead of the new one."""

from __future__ import annotations

from copy import deepcopy

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, Info, ResetResult, StepResult
from gymnast.envs.wrappers.seeded_wrapper import SeededWrapper


def wrap(env: Env, cfg: EnvConfig) -> Env:
    return DroppedFrames(env, cfg.noise.drop)


class DroppedFrames(SeededWrapper):
    """Returns the last observation that was not dropped, with the reward and info of the new step."""

    NAME = "dropped frames"

    def __init__(self, env: Env, chance: float) -> None:
        super().__init__(env)
        self._chance = float(chance)
        self._last_obs: object = None

    def on_reset(self, obs: object, info: Info) -> ResetResult:
        # Copies, because an environment may reuse the array for its next observation.
        self._last_obs = deepcopy(obs)
        return obs, info

    def step(self, action: object) -> StepResult:
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.rng.random() >= self._chance:
            self._last_obs = deepcopy(obs)
        return deepcopy(self._last_obs), reward, terminated, truncated, info
