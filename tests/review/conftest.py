"""A small trained run, and settings files with commands that are small Python programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gymnast
from gymnast.runs.run import Run
from tests.small_runs import SMALL

SHORT = SMALL | {
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "stop.env_steps": 512,
    "eval.every": "128 env_steps",
}
COUNT = "import sys; text = sys.stdin.read(); print(f'{len(text.splitlines())} lines. ✓ gut')"
"""A command that counts the lines of the bundle."""

Configure = Callable[..., Path]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Returns a run of CartPole with stored episodes, which no test may change."""
    runs = tmp_path_factory.mktemp("review") / "runs"
    return gymnast.train("CartPole-v1", overrides=SHORT, quiet=True, runs_dir=runs)


@pytest.fixture
def run(trained: Run, runs_dir: Path) -> Run:
    """Returns a copy of the run in the runs directory of the test."""
    shutil.copytree(trained.path, runs_dir / trained.id)
    return Run(runs_dir / trained.id)


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Returns a function that writes a settings file with one command per argument: name = Python code."""

    def write(frames: str = "none", timeout: float = 60, **programs: str) -> Path:
        file = tmp_path / "settings.yaml"
        commands = {
            name: {"command": [sys.executable, "-c", code], "frames": frames, "timeout": timeout}
            for name, code in programs.items()
        }
        file.write_text(json.dumps({"review": commands}))  # JSON is YAML too
        monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
        return file

    return write
