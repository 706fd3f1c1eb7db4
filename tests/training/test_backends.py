"""Every backend gives the same weights and exact metrics, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.errors import ConfigError, GymnastError
from gymnast.runs.run import Run
from gymnast.seeds import episode_seed
from gymnast.training.python_api import train
from tests.small_runs import (
    checkpoint_arrays,
    copy_killed_at,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    traces,
    train_small,
)

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
    "metrics": {"env/steps": {"source": "steps", "description": "Steps, from info."}},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_small("Script", TINY, runs_dir=tmp_path_factory.mktemp("runs"))


def same(a: Run, b: Run) -> bool:
    both = (
        (checkpoint_arrays(a, stem), checkpoint_arrays(b, stem))
        for stem in ("policy", "learner", "collector")
    )
    return all(same_arrays(x, y) for x, y in both) and numbers(a) == numbers(b)


def numbers(run: Run) -> list[Any]:
    own = "env/steps"
    found = [(row.pop(own, None), exact_metrics(row)) for row in rows(run)]
    assert {row[own] for row in rows(run) if own in row} or "CartPole" in run.info["env"]
    return found


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_training_in_any_number_of_workers_equals_training_in_process(here: Run, workers: int):
    there = train_small("Script", TINY | {"env.backend": "process", "env.workers": workers})
    assert same(here, there)
    assert traces(there, "train")
    if workers == 2:  # resumed from what a kill would leave, it ends the same
        assert same(resume_run(copy_killed_at(there, 320)), here)


def test_a_worker_that_dies_costs_only_its_episodes_and_is_reported():
    dies = {"how": "killed", "at": 9, "only": episode_seed(0, "episode", "agent", 3, 0)}
    settings = TINY | {"env.kwargs": dies, "env.backend": "process", "env.workers": 2}
    run = train_small("Broken", settings)
    assert run.info["status"] == "finished"
    (fault,) = [event for event in run.events() if event["kind"] == "fault"]
    assert (fault["copy"], fault["copies"]) == (3, [2, 3, 4])
    line = (
        "copy 3, step 9: its worker process was killed by SIGKILL (signal 9: by a user, or by the "
        "kernel when memory ran out); the episodes of copies 2, 3, 4 were dropped and these restarted"
    )
    assert fault["message"] == line
    assert line in (run.path / "log.txt").read_text()
    assert sum(row.get("rollout/faults", 0) for row in rows(run)) == 3


def test_output_of_environments_in_workers_is_logged():
    prints = {"how": "prints", "at": 2, "only": episode_seed(0, "episode", "agent", 1, 0)}
    settings = TINY | {"env.kwargs": prints, "env.backend": "process", "env.workers": 1}
    run = train_small("Broken", settings | {"stop.env_steps": 160})
    log = (run.path / "log.txt").read_text()
    assert "environment worker 0: hello from the environment" in log


# ---- vector implementations ------------------------------------------------------------------

VECTOR = {
    "env.backend": "vector",
    "env.n_envs": 6,
    "algo.n_steps": 32,
    "stop.env_steps": 1200,
    "traces.train": 1.0,
}


def test_training_on_a_vector_env_uses_real_steps_only_and_is_reproducible():
    first, again = (
        train_small("CartPole-v1", VECTOR | {"env.max_episode_steps": 20}) for _ in "ab"
    )
    assert same(first, again)
    learned = [row for row in rows(first) if "rollout/valid" in row or "episode/return" in row]
    assert learned
    episodes = [trace for some in traces(first, "train").values() for trace in some]
    assert len(episodes) > 20
    for trace in episodes:
        # CartPole pays 1 for each step of an episode, and nothing for a step that only begins one
        assert trace.reward.tolist() == [1.0] * len(trace.reward)
        assert len(trace.reward) <= 20
        assert trace.obs is not None
        assert np.abs(trace.obs[0]).max() <= 0.05  # where an episode begins
        fallen = abs(trace.obs[-1][0]) > 2.4 or abs(trace.obs[-1][2]) > 0.2095
        assert fallen == trace.terminated
        assert trace.terminated or len(trace.reward) == 20


@pytest.mark.parametrize(
    ("target", "settings", "said"),
    [
        ("Script", {}, "has no vector implementation"),
        ("Acrobot-v1", {}, "has no vector implementation"),
        ("CartPol-v1", {}, "did you mean CartPole-v1"),
    ],
)
def test_settings_that_a_vector_env_does_not_support_are_refused_before_anything_is_written(
    target: str, settings: dict[str, Any], said: str, runs_dir: Path
):
    with pytest.raises(GymnastError, match=said) as refused:
        train_small(target, {"env.backend": "vector"} | settings)
    assert "env.backend" in str(refused.value) or "CartPol" in target
    assert not list(runs_dir.glob("*/run.json"))


def test_an_algorithm_that_needs_whole_episodes_is_refused_on_a_vector_env():
    with pytest.raises(ConfigError, match="reinforce collects whole episodes"):
        train("CartPole-v1:reinforce", overrides={"env.backend": "vector"}, quiet=True)
