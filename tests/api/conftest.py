"""Small real runs: two of CartPole, one with the weights of the other, and one match run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import gymnast
from gymnast import api
from gymnast.jobs.record import JobRequest
from gymnast.runs.run import Run
from tests.small_runs import SMALL

CARTPOLE = SMALL | {
    "traces.train": 1.0,
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "stop.env_steps": 512,
    "eval.every": "128 env_steps",
}
TAG = SMALL | {
    "traces.train": 1.0,
    "env.n_envs": 4,
    "env.kwargs": {"time_limit": 9},
    "algo.n_steps": 16,
    "stop.env_steps": 128,
    "eval.every": "64 env_steps",
    "league.opponents": ["weak"],
}


def job_request(target: str) -> JobRequest:
    """Returns what a job that trains a preset is asked to do."""
    return JobRequest(
        kind="train",
        request={"target": target},
        target=target,
        name="wide",
        group=None,
        seed=3,
        attempts=0,
    )


@dataclass(frozen=True)
class Trained:
    runs_dir: Path
    first: Run
    child: Run
    """A run that started from the weights of `first`."""
    match: Run


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    runs_dir = tmp_path_factory.mktemp("api") / "runs"
    more = {"quiet": True, "runs_dir": runs_dir}
    first = gymnast.train("CartPole-v1", overrides=CARTPOLE, name="first", **more)
    child = gymnast.train(
        "CartPole-v1", overrides=CARTPOLE | {"algo.gamma": 0.9}, seed=1, source=first.id, **more
    )
    match = gymnast.train("tag", overrides=TAG, **more)
    return Trained(runs_dir, first, child, match)


@pytest.fixture(autouse=True)
def end_jobs(runs_dir: Path) -> Iterator[None]:
    """Kills the background jobs that a test has left."""
    yield
    for job in api.jobs(runs_dir=runs_dir):
        if job.is_live and job.pid is not None:
            os.kill(job.pid, signal.SIGKILL)
