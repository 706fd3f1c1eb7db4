"""Environments of every kind can be trained, traced and evaluated: also those without rendering, without
registration, and with Dict, text, plane or screen observations."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.resolve import resolve
from gymnast.envs.build.make import make_env
from gymnast.evaluation.rescore import rescore
from tests.small_runs import evaluations, resume_run, rows, traces, train_small

SMALL = {
    "env.n_envs": 2,
    "algo.n_steps": 32,
    "stop.env_steps": 256,
    "eval.every": "128 env_steps",
    "eval.start_at": "off",
    "eval.episodes": 2,
    "eval.max_episode_steps": 40,
    "env.max_episode_steps": 30,
    "traces.train": 1.0,
}


@pytest.mark.parametrize(
    "target",
    [
        "Bandit-v0",
        "Bandit-contextual-v0",
        "Bandit-drifting-v0",
        "BipedalWalker-v3",
        "Hopper-v5",
        "MinAtar/Breakout-v1",
        "MiniGrid-DoorKey-6x6-v0",
        "BabyAI-GoToRedBall-v0",
        "VizdoomBasic-v1",
        "Script",
    ],
)
def test_every_kind_of_environment_trains_is_traced_and_evaluated(target: str):
    run = train_small(target, SMALL)
    assert run.info["status"] == "finished"
    assert len(evaluations(run)) >= 1
    assert run.info["score"]["episodes"] == 4
    recorded = [trace for found in traces(run, "train").values() for trace in found]
    assert recorded
    assert all(np.isfinite(trace.reward).all() for trace in recorded)
    assert all(len(found) == 4 for found in traces(run, "confirm").values())


def test_replaying_recorded_actions_reproduces_the_recorded_episode():
    """Films and replays depend on it; here for environments that gymnast makes reproducible by seed."""
    for target in ("Bandit-drifting-v0", "MinAtar/Breakout-v1", "BipedalWalker-v3"):
        run = train_small(target, SMALL)
        env = make_env(resolve(target).config.env, limit=EpisodeLimit(30))
        recorded = [trace for found in traces(run, "train").values() for trace in found]
        assert len(recorded) >= 3
        for trace in recorded:
            env.reset(seed=trace.seed)
            assert [float(env.step(a)[1]) for a in trace.action] == trace.reward.tolist(), target


@pytest.mark.parametrize("target", ["Bandit-v0", "MiniGrid-DoorKey-6x6-v0"])
def test_a_run_resumes_where_it_ended(target: str):
    run = train_small(target, SMALL)
    assert resume_run(run, {"stop.env_steps": 384}).info["clocks"]["env_steps"] == 384


def test_metrics_from_info_are_declared_recorded_and_bounded():
    found = rows(train_small("Bandit-v0", SMALL | {"env.max_episode_steps": "off"}))
    regret = [row["env/regret"] for row in found if "env/regret" in row]
    share = [row["env/optimal_arm"] for row in found if "env/optimal_arm" in row]
    assert len(regret) == len(share) >= 1
    assert all(0 < r <= 80 for r in regret)
    assert all(0 <= s <= 1 for s in share)


@pytest.mark.parametrize("target", ["Bandit-v0", "Script"])
def test_a_policy_is_rescored_for_an_environment_without_spec_and_rendering(target: str):
    run = train_small(target, SMALL)
    again = rescore(run.id, episodes=4)
    assert again.mean == run.info["score"]["mean"]
