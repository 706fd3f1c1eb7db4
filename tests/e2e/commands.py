"""Runs `gymnast ...` in a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SMALL = (
    "eval.episodes=4",
    "eval.confirm_episodes=4",
    "eval.every=50%",
    "env.n_envs=4",
    "algo.n_steps=64",
)
"""Settings with which training is cheap."""


def run_gymnast(
    runs: Path, *words: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gymnast", *words, "--runs", str(runs)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
    )


def run_checked(runs: Path, *words: str) -> str:
    done = run_gymnast(runs, *words)
    assert done.returncode == 0, f"gymnast {' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_json(runs: Path, *words: str) -> Any:
    return json.loads(run_checked(runs, *words, "--json"))


def small_settings(*more: str) -> list[str]:
    return [word for setting in (*SMALL, *more) for word in ("--set", setting)]
