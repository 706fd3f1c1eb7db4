"""VizDoom's scenarios, which leave no files and no processes behind.

Each game reads and writes its key bindings, a file in the working directory unless told otherwise. Its
engine is a process that ignores SIGTERM.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium as gym
import vizdoom.gymnasium_wrapper  # noqa: F401 (registers them)

from gymnast.processes import guard

guard.start()

_bindings = TemporaryDirectory(prefix="gymnast-vizdoom-")
"""Of this process; gone when it ends."""

for spec in gym.registry.values():
    if spec.id.startswith("Vizdoom"):
        spec.kwargs.setdefault("doom_config_path", str(Path(_bindings.name) / "bindings.ini"))
