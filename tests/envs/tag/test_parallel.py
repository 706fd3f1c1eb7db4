"""Tag as a PettingZoo environment."""

from __future__ import annotations

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from gymnast.envs.matches.tag import parallel_env
from gymnast.errors import EnvError, UsageError


@pytest.mark.parametrize("kinds", [{}, {"seekers": 2, "hiders": 3}])
def test_tag_passes_the_api_and_seed_tests_of_pettingzoo(kinds: dict[str, int]):
    parallel_api_test(parallel_env(time_limit=40, **kinds), num_cycles=100)
    parallel_seed_test(lambda: parallel_env(time_limit=40, **kinds), num_cycles=100)


def test_tagged_agents_leave_and_the_last_info_contains_the_outcome():
    env = parallel_env(hiders=3, render_mode="rgb_array", handicaps={"seeker": 4.0})
    _, gone, ends, infos = env.reset(seed=4), list[str](), {}, {}
    assert env.agents == ["seeker_0", "hider_0", "hider_1", "hider_2"]
    policy = np.random.default_rng(0)
    while env.agents:
        before = list(env.agents)
        actions = {agent: policy.integers(0, (3, 3, 2)) for agent in before}
        obs, rewards, terminated, truncated, infos = env.step(actions)
        assert set(obs) == set(rewards) == set(terminated) == set(before)
        assert not any(truncated.values())
        gone += [agent for agent in before if terminated[agent]]
        ends = rewards
        assert all(sum(infos[a]["terms"].values()) == pytest.approx(rewards[a]) for a in before)
    assert sorted(gone) == sorted(env.possible_agents)
    assert infos["seeker_0"]["outcome"] in ("tag", "timeout")
    assert (ends["seeker_0"] > 0) == (infos["seeker_0"]["outcome"] == "tag")
    assert env.render().shape[2] == 3


def test_a_seed_determines_all_later_episodes():
    def first_obs(seeds: list[int | None]) -> list[np.ndarray]:
        env = parallel_env()
        return [env.reset(seed=seed)[0]["hider_0"] for seed in seeds]

    one, two = first_obs([3, None, None]), first_obs([3, None, None])
    assert all(map(np.array_equal, one, two))
    assert not np.array_equal(one[0], one[1])


def test_invalid_actions_and_render_modes_are_rejected():
    env = parallel_env()
    env.reset(seed=0)
    fine = np.array([0, 0, 0])
    with pytest.raises(EnvError, match="the action of hider_0 is missing"):
        env.step({"seeker_0": fine})
    with pytest.raises(EnvError, match="the action of seeker_0"):
        env.step({"seeker_0": np.array([0, 3, 0]), "hider_0": fine})
    with pytest.raises(UsageError, match="no render mode 'human'"):
        parallel_env(render_mode="human")
