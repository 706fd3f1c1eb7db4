"""Tests of what training relies on. Run `pytest my_env` after every change."""

from __future__ import annotations

import numpy as np
from gymnasium.utils.env_checker import check_env

from my_env.env import MyEnv


def episode(seed: int) -> list[tuple]:
    """Returns the observations and rewards of an episode with fixed random actions."""
    env = MyEnv()
    env.action_space.seed(seed)
    steps: list[tuple] = [(*env.reset(seed=seed)[0], 0.0)]
    ended = False
    while not ended:
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        steps.append((*observation, reward))
        ended = terminated or truncated
    return steps


def test_the_environment_follows_the_gymnasium_api():
    check_env(MyEnv(render_mode="rgb_array"), skip_render_check=True)


def test_the_same_seed_gives_the_same_episode_and_another_seed_a_different_one():
    assert episode(0) == episode(0)
    assert episode(0) != episode(1)


def test_walking_toward_the_target_reaches_it():
    """An agent that always steps toward the target ends the episode with success, before the time
    is up."""
    env = MyEnv()
    (position, target), info = env.reset(seed=3)
    assert info["success"] == 0.0
    terminated = truncated = False
    while not (terminated or truncated):
        action = 2 if target > position else 0
        (position, target), _, terminated, truncated, info = env.step(action)
    assert terminated
    assert info["success"] == 1.0


def test_rendering_shows_the_movement():
    """A step to the right changes the picture, which is 400 pixels wide and 100 high."""
    env = MyEnv(render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(2)
    after = env.render()
    assert before is not None
    assert before.dtype == np.uint8
    assert before.shape == (100, 400, 3)
    assert (before != after).any()
