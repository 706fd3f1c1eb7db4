"""Frame stacking and previous actions, on scripted environments."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.defaults import resolve_for_spaces
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError
from tests.identity import Identity


class Counting(gym.Env[Any, Any]):
    """Returns the number of steps as observation, in the given shape."""

    def __init__(self, shape: Sequence[int] = (2,), dtype: str = "float32", amounts: int = 0):
        self.observation_space: Any = gym.spaces.Box(0, 9, tuple(shape), np.dtype(dtype).type)
        self.action_space: Any = gym.spaces.Discrete(3, start=1)
        if amounts:
            self.action_space = gym.spaces.Box(-1.0, 2.0, (amounts,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.steps = 1
        return self._now(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self._now(), 0.0, False, False, {}

    def _now(self) -> Any:
        return np.full(self.observation_space.shape, self.steps, self.observation_space.dtype)


@pytest.mark.parametrize(
    ("obs", "settings", "expected"),
    [
        ("image", {}, 4),
        ("grey image", {}, 4),
        ("grey image", {"env.stack": 1}, 1),
        ("vector", {}, 1),
        ("parts", {}, 1),  # a Dict cannot be stacked
    ],
)
def test_images_of_an_environment_without_a_preset_are_stacked(
    obs: str, settings: dict[str, Any], expected: int
):
    settings = {"env.kwargs.obs": obs} | settings
    found = resolve_for_spaces("py:tests.identity:Identity", settings)
    assert found.config.env.stack == expected
    assert found.config.policy.cnn == ("small" if "image" in obs else "auto")
    with closing(make_env(found.config.env)) as env:
        assert env.reset(seed=0)[0] in env.observation_space
    again = resolve_for_spaces("py:tests.envs.test_stacking:Stacked", {})
    assert again.config.env.stack == 1  # the environment stacks its frames itself


class Stacked(Identity):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gym.spaces.Box(0, 255, (4, 40, 40), np.uint8)


def made(kwargs: dict[str, Any] | None = None, **more: Any) -> Any:
    id = "py:tests.envs.test_stacking:Counting"
    return make_env(EnvConfig(id=id, kwargs=kwargs or {}, **more))


def seen(env: gym.Env[Any, Any], actions: list[Any]) -> list[Any]:
    shown = [env.reset(seed=0)[0], *(env.step(action)[0] for action in actions)]
    assert all(env.observation_space.contains(obs) for obs in shown)
    return shown


def test_vectors_are_concatenated_with_the_newest_last():
    shown = seen(made(stack=3), [1, 1, 1])
    assert [obs.tolist() for obs in shown] == [
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 2, 2],
        [1, 1, 2, 2, 3, 3],
        [2, 2, 3, 3, 4, 4],
    ]


@pytest.mark.parametrize(
    ("shape", "stacked", "axis"),
    [([6, 5], (3, 6, 5), 0), ([3, 6, 5], (9, 6, 5), 0), ([6, 5, 3], (6, 5, 9), 2)],
)
def test_images_are_stacked_as_channels_after_blank_frames(shape, stacked, axis):
    env = made({"shape": shape, "dtype": "uint8"}, stack=3)
    first, *_, last = seen(env, [1, 1, 1])
    assert env.observation_space.shape == stacked
    others = tuple(i for i in range(3) if i != axis)
    depth = stacked[axis] // 3
    assert first.max(others).tolist() == [0] * 2 * depth + [1] * depth
    assert last.min(others).tolist() == [2] * depth + [3] * depth + [4] * depth


def test_previous_actions_are_appended_and_cleared_by_a_reset():
    env = made(previous_actions=2)
    shown = [obs.tolist()[2:] for obs in seen(env, [1, 3, 2])]
    assert shown == [[0] * 6, [0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1], [0, 0, 1, 0, 1, 0]]
    assert env.reset(seed=1)[0].tolist()[2:] == [0] * 6
    assert (env.observation_space.low[2:], env.observation_space.high[2:]) == pytest.approx((0, 1))


def test_previous_continuous_actions_are_appended_unchanged():
    env = made({"amounts": 2}, previous_actions=1)
    given = np.array([0.5, -1.0], np.float32)
    assert seen(env, [given])[-1].tolist() == [2, 2, 0.5, -1]


def test_previous_actions_are_appended_once_to_a_stack():
    env = made(stack=2, previous_actions=1)
    assert seen(env, [2])[-1].tolist() == [1, 1, 2, 2, 0, 1, 0]


def test_unstackable_observations_are_refused_with_the_key():
    with pytest.raises(EnvError) as refused:
        make_env(EnvConfig(id="Taxi-v4", stack=2))
    assert "env.stack" in str(refused.value)
    with pytest.raises(EnvError) as refused:
        made({"shape": [6, 5], "dtype": "uint8"}, previous_actions=1)
    assert "env.previous_actions" in str(refused.value)
