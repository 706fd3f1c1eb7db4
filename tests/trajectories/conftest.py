"""Small real runs with stored evaluations: tag, FrozenLake, and CartPole, which has no positions."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from gymnast.data_dir import DATA_DIR_VAR
from gymnast.runs.run import Run
from gymnast.trajectories.write import write_trajectories
from tests.small_runs import train_small

SHORT = {
    "stop.env_steps": 256,
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "eval.every": "128 env_steps",
    "eval.episodes": 6,
}
TAG: dict[str, Any] = SHORT | {
    "env.kwargs": {"time_limit": 40, "seekers": 2, "hiders": 2},
    "league.opponents": ["weak", "strong"],
    "traces.trajectories": "on",
}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATA_DIR_VAR, raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a directory with the runs of the fixtures below in `runs`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(DATA_DIR_VAR, raising=False)
        # The trajectories of the background process are the subject of tests of their own.
        patch.setattr("gymnast.training.lifecycle.start.film_in_background", lambda *_: None)
        path = Path(tmp_path_factory.mktemp("workspace"))
        runs = path / "runs"
        train_small("tag:selfplay", TAG, runs_dir=runs, name="tag")
        train_small("FrozenLake-v1", SHORT, runs_dir=runs, name="lake")
        train_small("CartPole-v1", SHORT, runs_dir=runs, name="pole")
    return path


def _named(workspace: Path, name: str) -> Run:
    from gymnast.runs import store

    return store.resolve(name, workspace / "runs")[0]


@pytest.fixture(scope="session")
def tag(workspace: Path) -> Run:
    return _named(workspace, "tag")


@pytest.fixture(scope="session")
def lake(workspace: Path) -> Run:
    return _named(workspace, "lake")


@pytest.fixture(scope="session")
def pole(workspace: Path) -> Run:
    return _named(workspace, "pole")


@pytest.fixture(scope="session")
def trajectories_of_tag(tag: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a data directory with the trajectories of the evaluations of tag, which no test may change."""
    path = Path(tmp_path_factory.mktemp("data"))
    write_trajectories(tag, path)
    return path


@pytest.fixture
def data(trajectories_of_tag: Path, tmp_path: Path) -> Path:
    """Returns a copy of this data directory, for tests of what is read from it: to write it again takes a
    second."""
    return Path(shutil.copytree(trajectories_of_tag, tmp_path / "data"))
