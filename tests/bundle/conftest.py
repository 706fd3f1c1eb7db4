"""Small trained runs, with one agent and with roles, of which each test gets copies."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import gymnast
from gymnast.bundle.bundle import make_bundle, write_bundle
from gymnast.bundle.record import DEFAULT_MAX_SIZE
from gymnast.runs.run import Run
from tests.small_runs import SMALL

CARTPOLE = SMALL | {
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "stop.env_steps": 512,
    "eval.every": "128 env_steps",
}
TAG = SMALL | {
    "env.n_envs": 4,
    "env.kwargs": {"time_limit": 9},
    "algo.n_steps": 16,
    "stop.env_steps": 128,
    "eval.every": "64 env_steps",
    "league.opponents": ["weak"],
}
Bundled = Callable[..., Path]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Returns a run of CartPole, which no test may change."""
    runs = tmp_path_factory.mktemp("bundle") / "runs"
    return gymnast.train("CartPole-v1", overrides=CARTPOLE, quiet=True, runs_dir=runs)


@pytest.fixture(scope="session")
def trained_match(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Returns a self-play run, which no test may change."""
    runs = tmp_path_factory.mktemp("bundle") / "runs"
    return gymnast.train("tag", overrides=TAG, quiet=True, runs_dir=runs)


@pytest.fixture
def run(trained: Run, runs_dir: Path) -> Run:
    """Returns a copy of the run of CartPole in the runs directory of the test."""
    return Run(shutil.copytree(trained.path, runs_dir / trained.id))


@pytest.fixture
def match_run(trained_match: Run, runs_dir: Path) -> Run:
    """Returns a copy of the self-play run in the runs directory of the test."""
    return Run(shutil.copytree(trained_match.path, runs_dir / trained_match.id))


@pytest.fixture
def bundled(tmp_path: Path) -> Bundled:
    """Returns a function that writes the bundle of a run and returns the file."""

    def write(run: Run, which: str | None = None, max_size: int = DEFAULT_MAX_SIZE) -> Path:
        path = tmp_path / "bundle.zip"
        write_bundle(make_bundle(run, which, max_size), path)
        return path

    return write
