"""VizDoom's scenarios with a complete final observation, and without files or processes left behind.

Each game writes a file with its key bindings, by default into the working directory, so the path is set
to a temporary directory. The engine is a process that ignores SIGTERM, so the guardian is started.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import numpy as np
from vizdoom.gymnasium_wrapper.gymnasium_env_defns import VizdoomScenarioEnv

from gymnast.envs.env_types import Info
from gymnast.processes import guard

guard.start()

_bindings = TemporaryDirectory(prefix="gymnast-vizdoom-")
"""Directory of the key bindings; deleted when this process ends."""


class Scenario(VizdoomScenarioEnv):
    """A scenario whose final observation has the game variables; VizDoom's own has zeros."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        obs, reward, terminated, truncated, info = super().step(action)
        if self.state is None and "gamevariables" in obs:  # the episode is over
            read = self.game.get_game_variable
            values = [read(variable) for variable in self.game.get_available_game_variables()]
            obs["gamevariables"] = np.array(values, dtype=np.float32)
        return obs, reward, terminated, truncated, info


# setdefault: a path that the user passes in env.kwargs wins
for spec in gym.registry.values():
    if spec.id.startswith("Vizdoom"):
        spec.entry_point = f"{__name__}:Scenario"
        spec.kwargs.setdefault("doom_config_path", str(Path(_bindings.name) / "bindings.ini"))
