"""Small real runs for the tools: two of CartPole, one with the weights of the other, and one match run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import gymnast
from gymnast.mcp.options import McpOptions
from gymnast.runs.run import Run
from tests.api.conftest import CARTPOLE, TAG
from tests.studio.conftest import state_home as state_home


@dataclass(frozen=True)
class Trained:
    runs_dir: Path
    first: Run
    second: Run
    match: Run

    @property
    def options(self) -> McpOptions:
        return McpOptions(self.runs_dir)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    runs_dir = tmp_path_factory.mktemp("mcp") / "runs"
    more = {"quiet": True, "runs_dir": runs_dir}
    first = gymnast.train("CartPole-v1", overrides=CARTPOLE, name="first", **more)
    second = gymnast.train(
        "CartPole-v1", overrides=CARTPOLE | {"algo.gamma": 0.9}, seed=1, name="second", **more
    )
    match = gymnast.train("tag", overrides=TAG, name="match", **more)
    return Trained(runs_dir, first, second, match)
