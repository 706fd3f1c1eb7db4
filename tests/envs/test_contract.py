"""What every backend promises, on environments whose every number is known.

A new backend joins by adding its constructor to BACKENDS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.envs.inprocess import InProcess, replays_exactly
from gymnast.errors import EnvError
from tests.scripted import (
    ENDS,
    Broken,
    Choose,
    Forgetful,
    Script,
    obs_of,
    reward_of,
    seed_in,
)

BACKENDS = [InProcess]
Open = Callable[..., Any]


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.__name__)
def open_envs(request: pytest.FixtureRequest) -> Iterator[Open]:
    opened = []

    def make(env: Callable[[], gym.Env], n_envs: int = 2, name: str = "Scripted-v0") -> Any:
        opened.append(request.param(env, n_envs, name))
        return opened[-1]

    yield make
    for envs in opened:
        envs.close()


def zeros(envs: Any) -> np.ndarray:
    return np.zeros(envs.n_envs, dtype=np.int64)


@pytest.mark.parametrize("end", ENDS)
def test_a_step_shows_the_true_successor_with_both_ends_apart(open_envs: Open, end):
    envs = open_envs(lambda: Script(length=3, end=end))
    envs.reset([0, 1], [11, 22])
    for t in (1, 2, 3):
        step = envs.step(zeros(envs))
        assert np.array_equal(step.obs, [obs_of(11, t), obs_of(22, t)])
        assert step.reward.tolist() == [reward_of(11, t), reward_of(22, t)]
        last = t == 3
        assert step.terminated.tolist() == [last and end != "truncated"] * 2
        assert step.truncated.tolist() == [last and end != "terminated"] * 2


def test_nothing_resets_by_itself(open_envs: Open):
    envs = open_envs(lambda: Script(length=2, end="terminated"))
    envs.reset([0, 1], [11, 22])
    for t in (1, 2, 3, 4):
        envs.step(zeros(envs))
        assert np.array_equal(envs.obs, [obs_of(11, t), obs_of(22, t)])


def test_only_the_copies_named_are_reset_or_stepped(open_envs: Open):
    envs = open_envs(Script, n_envs=3)
    envs.reset([0, 1, 2], [70, 71, 72])
    envs.step(zeros(envs), [1])
    assert np.array_equal(envs.obs, [obs_of(70, 0), obs_of(71, 1), obs_of(72, 0)])
    envs.reset([2], [99])
    assert np.array_equal(envs.obs, [obs_of(70, 0), obs_of(71, 1), obs_of(99, 0)])


def test_episodes_of_one_step_end_with_their_first_step(open_envs: Open):
    envs = open_envs(lambda: Script(length=1, end="truncated"))
    for seed in range(5):
        envs.reset([0, 1], [seed, seed + 100])
        step = envs.step(zeros(envs))
        assert step.truncated.all()
        assert [seed_in(o) for o in step.obs] == [seed, seed + 100]


@pytest.mark.parametrize("env", ["CartPole-v1", "Taxi-v4", "Pendulum-v1", "LunarLander-v3"])
def test_the_same_seed_is_the_same_episode_in_any_copy_and_another_is_not(open_envs: Open, env):
    envs = open_envs(lambda: gym.make(env), n_envs=3, name=env)
    envs.reset([0, 1, 2], [5, 5, 6])
    space = envs.envs[0].action_space
    space.seed(0)
    differs = not np.array_equal(envs.obs[0], envs.obs[2])
    for _ in range(20):
        one = space.sample()
        step = envs.step(np.array([one, one, one]))
        assert np.array_equal(step.obs[0], step.obs[1])
        assert step.reward[0] == step.reward[1]
        differs = differs or not np.array_equal(step.obs[0], step.obs[2])
        if step.terminated.any():
            break
    assert differs


def test_seeds_reach_the_environment_zero_included(open_envs: Open):
    envs = open_envs(Script, n_envs=4)
    seeds = [0, 1, 2**31 - 1, 123456789]
    envs.reset(range(4), seeds)
    assert [seed_in(o) for o in envs.obs] == seeds


BREAKAGES = {
    "nan reward": "the reward is nan",
    "inf reward": "the reward is inf",
    "text reward": "not a number",
    "nan obs": r"not finite at index \[1\]",
    "inf obs": r"not finite at index \[2\]",
    "shape": r"shape \(4,\), its space says \(3,\)",
    "list": "is a list, not an array",
    "text obs": "not numbers",
    "category": "the observation is 4, not one of 4 categories",
    "fraction": "the observation is 1.5, not one of 4 categories",
    "no category": "the observation is None, not one of 4 categories",
    "raises": "ZeroDivisionError: the physics went wrong",
}


@pytest.mark.parametrize(("how", "cause"), BREAKAGES.items(), ids=BREAKAGES)
def test_a_broken_environment_is_stopped_naming_it_its_copy_the_step_and_the_cause(
    open_envs: Open, how: str, cause: str
):
    envs = open_envs(lambda: Broken(how, at=3), name="Shaky-v0")
    envs.reset([0, 1], [1, 2])
    envs.step(zeros(envs))
    envs.step(zeros(envs))
    with pytest.raises(EnvError, match=cause) as stopped:
        envs.step(zeros(envs))
    text = str(stopped.value)
    assert "Shaky-v0, copy 1, step 3" in text
    assert stopped.value.fix


@pytest.mark.parametrize("how", ["nan obs", "shape", "category", "raises"])
def test_a_broken_reset_is_named_as_step_0(open_envs: Open, how: str):
    envs = open_envs(lambda: Broken(how, at=0), name="Shaky-v0")
    with pytest.raises(EnvError, match="Shaky-v0, copy 1, step 0"):
        envs.reset([0, 1], [1, 2])


def test_what_an_environment_raised_is_kept_as_the_cause(open_envs: Open):
    envs = open_envs(lambda: Broken("raises", at=1))
    envs.reset([0, 1], [1, 2])
    with pytest.raises(EnvError) as stopped:
        envs.step(zeros(envs))
    assert isinstance(stopped.value.__cause__, ZeroDivisionError)


def test_spaces_that_do_not_begin_at_zero_are_shown_as_they_are(open_envs: Open):
    envs = open_envs(lambda: Choose(n=3, first=5), n_envs=2)
    envs.reset([0, 1], [1, 2])
    assert set(envs.obs.tolist()) <= {5, 6, 7}
    step = envs.step(envs.obs.copy())  # the environment asserts that actions are of its space
    assert step.reward.tolist() == [1.0, 1.0]


def test_a_copy_that_never_began_shows_something_of_its_space(open_envs: Open):
    """Evaluation asks the policy about all copies, also where fewer episodes are wanted."""
    envs = open_envs(lambda: Choose(n=3, first=5), n_envs=2)
    envs.reset([0], [1])
    assert all(5 <= o < 8 for o in envs.obs.tolist())


TRIED = {
    "script": (Script, True),
    "forgetful": (Forgetful, False),
    "choose": (Choose, True),
    "late categories": (lambda: Choose(first=7), True),
    "amounts": (lambda: Script(box=True), True),
    "amounts above 1": (lambda: Script(box=True, low=3.0, high=5.0), True),
    "amounts below -1": (lambda: Script(box=True, low=-9.0, high=-4.0), True),
    "unbounded amounts": (lambda: Script(box=True, low=-np.inf, high=np.inf), True),
}


@pytest.mark.parametrize(("env", "replays"), TRIED.values(), ids=TRIED)
def test_whether_an_episode_can_be_replayed_is_found_out_by_trying(open_envs: Open, env, replays):
    """With actions of its space: the scripts assert that."""
    assert replays_exactly(open_envs(env), "unknown") is replays


def test_what_is_declared_about_replaying_is_believed(open_envs: Open):
    envs = open_envs(Forgetful)
    assert replays_exactly(envs, "yes") is True
    assert replays_exactly(envs, "no") is False
