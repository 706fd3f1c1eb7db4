"""A small real run with stored episodes, shared by the tests that do not change it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gymnast.runs.run import Run
from tests.small_runs import train_small

CARTPOLE = {
    "stop.env_steps": 512,
    "env.n_envs": 4,
    "algo.n_steps": 64,
    "eval.every": "256 env_steps",
    "traces.train": "100%",
}


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture(scope="session")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two evaluations of four episodes each, and all training episodes."""
    return train_small(
        "CartPole-v1", CARTPOLE, runs_dir=tmp_path_factory.mktemp("inspect") / "runs"
    )


def copied(run: Run, folder: Path) -> Run:
    """Returns a copy of a run that a test may change."""
    shutil.copytree(run.path, folder / run.id)
    return Run(folder / run.id)
