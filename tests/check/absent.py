"""Registers an environment whose package does not exist; `tests.check.absent:Absent-v0` imports this."""

import gymnasium as gym

gym.register("Absent-v0", entry_point="no_such_package.envs:Absent")
