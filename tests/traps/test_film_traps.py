"""Trap 38: video recording broke training until it was commented out everywhere."""

from __future__ import annotations

import subprocess
import sys


def test_training_loads_nothing_that_makes_pictures():
    code = (
        "import gymnast.training.lifecycle.start, gymnast.training.loop, sys; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "gymnast.film.background" in loaded
    assert not loaded & {"av", "pygame", "gymnast.film.encode", "gymnast.film.renderer"}
