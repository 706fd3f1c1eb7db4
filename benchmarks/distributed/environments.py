"""Environments whose cost per step is known, and one that logs its episodes. They need no gymnast, so that
every library can use them."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.spaces import Discrete

BURN_SECONDS, SLEEP_SECONDS = 200e-6, 5e-3


class Costly(gym.Env[np.ndarray, Any]):
    """CartPole that also takes a given time per step: of a core (`burn`), or asleep (`sleep`), in seconds.

    With `slow_dir`, one process is `slow_factor` times as slow: the first that steps a copy and locks a file
    in this directory."""

    def __init__(
        self,
        burn: float = 0.0,
        sleep: float = 0.0,
        slow_dir: str | None = None,
        slow_factor: float = 3.0,
    ) -> None:
        self._env = CartPoleEnv()
        self.observation_space = self._env.observation_space
        self.action_space = Discrete(2)
        self._burn, self._sleep = burn, sleep
        self._slow_dir, self._slow_factor = slow_dir, slow_factor
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, Any]:
        self._steps = 0
        return self._env.reset(seed=seed)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        factor = 1.0
        if self._slow_dir is not None and _is_slow_process(self._slow_dir):
            factor = self._slow_factor
        if self._sleep:
            time.sleep(self._sleep * factor)
        if self._burn:
            until = time.thread_time() + self._burn * factor
            while time.thread_time() < until:
                pass
        obs, reward, terminated, _, info = self._env.step(action)
        self._steps += 1
        return obs, float(reward), terminated, self._steps >= 500, info


class Logged(Costly):
    """Appends a line to the file `path` when an episode starts and when it ends."""

    def __init__(self, path: str, sleep: float = 0.0) -> None:
        super().__init__(sleep=sleep)
        self._path, self._seed = path, -1

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, Any]:
        self._seed = -1 if seed is None else seed
        self._log("start")
        return super().reset(seed=seed)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        result = super().step(action)
        if result[2] or result[3]:
            self._log("end")
        return result

    def _log(self, what: str) -> None:
        # one write of a short line to a file opened for appending is atomic
        with Path(self._path).open("a") as file:
            file.write(f"{what} {os.getpid()} {id(self)} {self._seed}\n")


_slow: dict[str, bool] = {}
"""Directory -> whether this process is the slow one."""
_locks: list[Any] = []
"""Locked files, kept open as long as the process lives."""


def _is_slow_process(directory: str) -> bool:
    if directory not in _slow:
        file = (Path(directory) / "slow").open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _slow[directory] = False
        else:
            _locks.append(file)
            _slow[directory] = True
    return _slow[directory]
