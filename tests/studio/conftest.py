"""A server over real small runs, shared by the tests that do not change them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

import gymnast
from gymnast.runs.run import Run
from tests.small_runs import SMALL
from tests.studio.server import Server, built_files, serving

CARTPOLE = SMALL | {
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "stop.env_steps": 512,
    "eval.every": "128 env_steps",
}
HTML = "<img src=x onerror=alert(1)>\"'&"
"""A text that a page must show as it is."""


@dataclass(frozen=True)
class Trained:
    runs_dir: Path
    first: Run
    second: Run


@pytest.fixture(scope="session", autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The state directory of the tests: not that of the user who runs them."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Two small runs and a directory whose run.json is broken."""
    runs_dir = tmp_path_factory.mktemp("studio") / "runs"
    runs = [
        gymnast.train("CartPole-v1", overrides=CARTPOLE, seed=seed, quiet=True, runs_dir=runs_dir)
        for seed in (0, 1)
    ]
    runs[0].update(note=HTML)
    (runs_dir / "broken").mkdir()
    (runs_dir / "broken" / "run.json").write_text('{"version"')
    (runs[0].path / "videos").mkdir(exist_ok=True)
    (runs[0].path / "videos" / "film.mp4").write_bytes(bytes(range(256)))
    (runs[0].path / "report").mkdir()
    (runs[0].path / "report" / "report.html").write_text("<script>alert(1)</script>")
    return Trained(runs_dir, *runs)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_files(tmp_path_factory.mktemp("web") / "built")


@pytest.fixture(scope="session")
def server(trained: Trained, files: Path) -> Iterator[Server]:
    """A server over `trained`. Tests must not change these runs."""
    with serving(trained.runs_dir, files) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as browser:
        yield browser


@pytest.fixture
def copied(trained: Trained, tmp_path: Path) -> Trained:
    """A copy of the runs that a test may change."""
    runs_dir = tmp_path / "copied"
    shutil.copytree(trained.runs_dir, runs_dir)
    return Trained(runs_dir, Run(runs_dir / trained.first.id), Run(runs_dir / trained.second.id))
