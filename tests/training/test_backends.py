"""Where the copies run is no part of the numbers: weights and exact metrics are the same, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.errors import ConfigError, EnvError
from gymnast.runs.run import Run
from tests.small_runs import arrays, exact, gone_back, resumed, rows, same_arrays, trained, traces

TINY = {
    "env.n_envs": 5,
    "algo.n_steps": 16,
    "stop.env_steps": 480,
    "eval.every": "off",
    "checkpoint.every": "2 rollouts",
    "checkpoint.keep": 9,
    "traces.train": 1.0,
    "normalize.obs": "running",
    "normalize.reward": "running",
    "metrics": {"steps_told": {"source": "steps"}},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained("Script", TINY, runs_dir=tmp_path_factory.mktemp("runs"))


def same(a: Run, b: Run) -> bool:
    both = ((arrays(a, stem), arrays(b, stem)) for stem in ("policy", "learner", "collector"))
    told = [[exact(row) for row in rows(run)] for run in (a, b)]
    return all(same_arrays(x, y) for x, y in both) and told[0] == told[1]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_training_in_workers_equals_training_here_however_many(here: Run, workers: int):
    there = trained("Script", TINY | {"env.backend": "process", "env.workers": workers})
    assert same(here, there)
    assert traces(there, "train")


def test_a_killed_training_in_workers_goes_on_exactly(here: Run):
    settings = TINY | {"env.backend": "process", "env.workers": 2}
    killed = gone_back(trained("Script", settings), 320)
    assert same(resumed(killed), here)


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_a_copy_that_dies_costs_its_episodes_and_the_run_says_so(backend: str):
    pass
