"""Registers VizDoom's scenarios such that they leave no files and no processes behind.

Each game writes a file with its key bindings, by default into the working directory, so the path is set
to a temporary directory. The engine is a process that ignores SIGTERM, so the guardian is started.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium as gym
import vizdoom.gymnasium_wrapper  # noqa: F401 (registers them)

from gymnast.processes import guard

guard.start()

_bindings = TemporaryDirectory(prefix="gymnast-vizdoom-")
"""Directory of the key bindings; deleted when this process ends."""

# setdefault: a path that the user passes in env.kwargs wins
for spec in gym.registry.values():
    if spec.id.startswith("Vizdoom"):
        spec.kwargs.setdefault("doom_config_path", str(Path(_bindings.name) / "bindings.ini"))
