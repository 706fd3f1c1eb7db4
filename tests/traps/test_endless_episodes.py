"""Trap 52: an evaluation waited forever for a greedy policy that walked in a circle."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.episode_limit import DEFAULT_EPISODE_STEPS, ENV_LIMIT, EpisodeLimit
from gymnast.config.resolve import resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.build.open import open_envs
from gymnast.envs.build.strip_wrappers import has_default_limit, time_limit
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.summary import preflight_text
from tests.small_runs import SMALL, traces, train

HERE = "py:tests.traps.test_endless_episodes"


class Circle(gym.Env[np.int64, np.int64]):
    """An environment whose episodes never end."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = gym.spaces.Discrete(4), gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.int64, dict]:
        super().reset(seed=seed)
        self.place = np.int64(0)
        return self.place, {}

    def step(self, action: Any) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        self.place = np.int64((self.place + 1) % 4)
        return self.place, 1.0, False, False, {}


class LongCircle(Circle):
    """An environment that declares a time limit longer than the default."""

    max_steps = 2 * DEFAULT_EPISODE_STEPS


def steps_until_truncated(settings: dict[str, Any], *, evaluation: bool = False) -> int:
    cfg = resolve(f"{HERE}:Circle", settings).config
    limit = cfg.evaluation_limit() if evaluation else cfg.training_limit()
    env = make_env(cfg.env, limit=limit)
    env.reset(seed=0)
    for step in range(1, 2 * DEFAULT_EPISODE_STEPS):
        *_, terminated, truncated, _ = env.step(0)
        assert not terminated
        if truncated:
            return step
    return -1


def test_52_a_run_in_an_environment_that_never_ends_is_trained_evaluated_and_confirmed():
    few = {"eval.episodes": 2, "eval.confirm_episodes": 2, "eval.n_envs": 2}
    settings = SMALL | few | {"stop.env_steps": 64, "eval.every": "32 env_steps"}
    run = train(f"{HERE}:Circle", overrides=settings, quiet=True)
    assert (run.info["status"], run.info["confirmed"]) == ("finished", True)
    assert run.info["score"]["mean"] == DEFAULT_EPISODE_STEPS
    for played in (*traces(run, "eval").values(), *traces(run, "confirm").values()):
        assert [(t.truncated, len(t.reward)) for t in played] == [(True, DEFAULT_EPISODE_STEPS)] * 2


def test_the_training_and_evaluation_limits_are_each_others_default():
    assert steps_until_truncated({}) == DEFAULT_EPISODE_STEPS
    assert steps_until_truncated({"env.max_episode_steps": 7}) == 7
    assert steps_until_truncated({"env.max_episode_steps": 7}, evaluation=True) == 7
    assert steps_until_truncated({"eval.max_episode_steps": 9}) == 9
    assert steps_until_truncated({"env.max_episode_steps": "off"}) == -1


def test_a_limit_of_the_environment_is_not_shortened():
    cfg = resolve(f"{HERE}:LongCircle").config
    assert make_env(cfg.env, limit=cfg.training_limit())._max_episode_steps == LongCircle.max_steps
    cartpole = resolve("CartPole-v1").config
    assert make_env(cartpole.env, limit=cartpole.training_limit()).spec.max_episode_steps == 500


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_backends_truncate_at_the_default_limit_and_report_that_it_is_a_default(backend: str):
    cfg = EnvConfig(id=f"{HERE}:Circle", n_envs=2, workers=1, backend=backend)
    limit = resolve(cfg.id, {"eval.max_episode_steps": 5}).config.training_limit()
    for given, known, default in ((limit, 5, True), (ENV_LIMIT, None, False)):
        envs = open_envs(cfg, limit=given, on_output=print)
        assert (envs.time_limit, envs.has_default_limit) == (known, default)
        envs.reset([0, 1], [0, 1])
        ends = [envs.step(np.zeros(2, np.int64)).truncated.tolist() for _ in range(5)]
        assert ends == [[False] * 2] * 4 + [[known is not None] * 2]
        envs.close()


def test_a_default_limit_is_reported_as_a_default_with_wrappers_and_tasks_too():
    for settings in ({"noise": {"drop": 0.5}}, {"tasks": {"a": {}, "b": {}}}):
        env = make_env(EnvConfig(id=f"{HERE}:Circle", **settings), limit=EpisodeLimit(default=5))
        assert (time_limit(env), has_default_limit(env)) == (5, True)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "time limit 1,000 steps (default: the environment declares none)"),
        (
            {"eval.max_episode_steps": 9},
            "9 steps (eval.max_episode_steps: the environment declares none)",
        ),
        ({"env.max_episode_steps": 8}, "time limit 8 steps (env.max_episode_steps)"),
        ({"env.max_episode_steps": "off"}, "none (the environment declares none)"),
    ],
)
def test_the_summary_before_the_first_step_names_the_limit(settings: dict, expected: str):
    prepared = prepare(f"{HERE}:Circle", settings)
    text = preflight_text(prepared.preflight())
    prepared.collector.close()
    assert expected in text
