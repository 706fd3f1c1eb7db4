"""Training on stacked images that store every frame once equals training on complete observations."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.spaces.observations import ImageObs
from tests.small_runs import (
    assert_same_run,
    copy_killed_at,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    traces,
    train_small,
)

N, T = 3, 8
ROLLOUT = N * T
SETTINGS = {
    "env.n_envs": N,
    "stop.env_steps": 3 * ROLLOUT,
    "eval.every": "2 rollouts",
    "eval.max_episode_steps": 10,
    "policy.hidden": [],
    "traces.train": "100%",
}
PPO = SETTINGS | {"algo.n_steps": T, "checkpoint.every": "2 rollouts", "checkpoint.keep": 20}


def runs(algo: str, settings: dict, patch: pytest.MonkeyPatch) -> tuple[Run, Run]:
    """Returns a run that stores each frame once, and one that stores whole observations."""
    once = train_small("Pictures", settings, algo=algo)
    patch.setattr(ImageObs, "is_stack", False)
    return once, train_small("Pictures", settings, algo=algo)


@pytest.mark.parametrize(
    ("algo", "more"),
    [
        ("ppo", PPO | {"collect.mode": "overlap", "facts.deterministic": "no"}),
        ("reinforce", SETTINGS | {"facts.deterministic": "no"}),
        (
            "dqn",
            SETTINGS
            | {"algo.n_steps": T, "algo.warmup": 8, "algo.gradient_steps": 2, "algo.replay": 200},
        ),
    ],
)
def test_storing_each_frame_once_gives_the_same_run_as_storing_whole_observations(
    algo: str, more: dict, monkeypatch: pytest.MonkeyPatch
):
    once, whole = runs(algo, more, monkeypatch)
    last, other = (checkpoint.latest(run.path) for run in (once, whole))
    assert same_arrays(last.tensors("policy"), other.tensors("policy"))
    assert same_arrays(last.tensors("learner"), other.tensors("learner"))
    assert [exact_metrics(row) for row in rows(once)] == [exact_metrics(row) for row in rows(whole)]
    assert last.text("rollout.csv") == other.text("rollout.csv")
    kept = [[t for part in traces(run, "train").values() for t in part] for run in (once, whole)]
    assert kept[0]
    for one, two in zip(*kept, strict=True):
        assert (one.obs is None) == (two.obs is None) == (algo == "dqn")
        assert one.obs is None or np.array_equal(one.obs, two.obs)


def test_a_killed_run_with_a_waiting_rollout_resumes_bit_exactly():
    whole = train_small("Pictures", PPO | {"collect.mode": "overlap"})
    going = copy_killed_at(whole, 2 * ROLLOUT)
    waiting = checkpoint.latest(going.path).tensors("waiting")
    pictures = waiting["agent/obs.plane"]
    assert pictures.nbytes < 0.8 * ROLLOUT * 4 * 40 * 40  # episodes are of a few steps only
    assert_same_run(resume_run(going), whole)
