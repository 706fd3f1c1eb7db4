"""A small real run with stored evaluation episodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymnast.runs.run import Run
from tests.small_runs import train_small


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture(scope="session")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three evaluations of four episodes each, none longer than 12 steps."""
    settings = {
        "stop.env_steps": 768,
        "env.n_envs": 4,
        "algo.n_steps": 64,
        "eval.every": "256 env_steps",
        "eval.max_episode_steps": 12,
        "eval.seed": 11,
        "traces.train": "100%",
    }
    return train_small(
        "CartPole-v1", settings, runs_dir=Path(tmp_path_factory.mktemp("film")) / "runs"
    )
