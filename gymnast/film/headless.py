"""Rendering without a display."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def headless_rendering() -> Iterator[None]:
    """Makes pygame and MuJoCo render without a display."""
    # Both libraries read these variables when they are first used, which is inside of the block.
    before = dict(os.environ)
    os.environ["SDL_VIDEODRIVER"] = os.environ["SDL_AUDIODRIVER"] = "dummy"
    if sys.platform == "linux":
        os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        yield
    finally:
        for name in ("SDL_VIDEODRIVER", "SDL_AUDIODRIVER", "MUJOCO_GL"):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]
