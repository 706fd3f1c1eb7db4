"""EnvPool and ALE as backends, compared with single Gymnasium environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.build.open import open_envs
from gymnast.errors import EnvError
from gymnast.seeds import stream
from tests.envs.backends import reset_all

N = 4
POOLED = ["CartPole-v1", "Pendulum-v1", "LunarLander-v3", "HalfCheetah-v5"]


def opened(env_id: str, limit: int | None = None, backend: str = "envpool", **more: Any) -> Any:
    cfg = EnvConfig(id=env_id, n_envs=N, backend=backend, **more)
    return open_envs(cfg, limit=EpisodeLimit(limit), on_output=print)


def played(envs: Any, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
    """Yields (observations, actions, step) like a collector: ended copies are reset."""
    reset_all(envs, list(range(N)))
    rng, seeds = stream(0, "test"), iter(range(100, 100_000))
    for _ in range(steps):
        shown, action = envs.obs.copy(), envs.action_space.random((N,), rng)
        step = envs.step(action)
        assert step.faults == ()
        yield shown, action, step
        ended = np.flatnonzero(step.terminated | step.truncated).tolist()
        assert envs.reset(ended, [next(seeds) for _ in ended]) == ()


def test_envpool_steps_follow_gymnasiums_equations():
    """Every step is checked from its own start state; steps that only start an episode are left out."""
    oracle: Any = gym.make("CartPole-v1").unwrapped
    oracle.reset(seed=0)
    compared = begun = 0
    for shown, action, step in played(opened("CartPole-v1"), 300):
        counts = np.ones(N, dtype=bool) if step.stepped is None else step.stepped
        for i in range(N):
            if not counts[i]:
                assert np.abs(step.obs[i]).max() <= 0.05
                assert (step.terminated[i], step.truncated[i]) == (False, False)
                assert step.reward[i] == 0
                begun += 1
                continue
            oracle.state, oracle.steps_beyond_terminated = shown[i].astype(np.float64), None
            obs, reward, terminated, _, _ = oracle.step(int(action[i]))
            assert np.allclose(step.obs[i], obs, atol=1e-5)
            assert (reward, terminated) == (step.reward[i], step.terminated[i])
            compared += 1
    assert compared > 1000
    assert begun > 20


def test_the_envpool_time_limit_is_gymnasiums_and_truncates():
    envs = opened("Pendulum-v1", limit=5)
    assert envs.time_limit == 5
    ages, ends = np.zeros(N, dtype=int), 0
    for _, _, step in played(envs, 40):
        counts = np.ones(N, dtype=bool) if step.stepped is None else step.stepped
        ages = np.where(counts, ages + 1, 0)
        assert np.array_equal(step.truncated, ages == 5)
        assert not step.terminated.any()
        ends += int(step.truncated.sum())
        ages[step.truncated] = 0
    assert ends >= 6 * N


@pytest.mark.parametrize("env_id", POOLED)
def test_envpool_has_the_spaces_and_limit_of_the_evaluation_environment(env_id: str):
    alone, envs = make_env(EnvConfig(id=env_id)), opened(env_id)
    assert alone.spec is not None
    assert alone.observation_space.shape == envs.obs.shape[1:]
    assert envs.time_limit == alone.spec.max_episode_steps
    if isinstance(alone.action_space, gym.spaces.Box):
        assert np.array_equal(alone.action_space.low, envs.action_space.low)
        assert np.array_equal(alone.action_space.high, envs.action_space.high)
    for _, _, step in played(envs, 30):
        assert np.isfinite(step.reward).all()
    envs.close()


def test_an_envpool_seed_gives_the_same_episodes_and_another_seed_different_ones():
    def seen(seed: int) -> np.ndarray:
        envs = opened("CartPole-v1")
        envs.reset(range(N), [seed] * N)
        rows = [envs.obs.copy()]
        rows += [envs.step(np.ones(N, dtype=np.int64)).obs.copy() for _ in range(5)]
        return np.array(rows)

    assert np.array_equal(seen(3), seen(3))
    assert not np.array_equal(seen(3), seen(4))
    assert not np.array_equal(seen(3)[:, 0], seen(3)[:, 1])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"id": "Taxi-v4"}, "EnvPool has no Taxi-v4"),
        ({"id": "CartPole-v1", "kwargs": {"lenght": 2}}, "CartPole-v1 does not accept"),
        ({"id": "CartPole-v1", "tasks": {"easy": {}, "hard": {}}}, "does not support this setting"),
    ],
)
def test_settings_that_envpool_does_not_support_are_errors(asked: dict[str, Any], message: str):
    with pytest.raises(EnvError, match=message):
        opened(asked.pop("id"), **asked)
