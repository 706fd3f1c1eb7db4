"""Bandits: their regret, and which seeds decide their arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.suites.bandits import DECAY, Bandit, DriftingBandit

IDS = ("Bandit-v0", "Bandit-contextual-v0", "Bandit-drifting-v0")


def played(env: Any, seed: int, choose: Any) -> tuple[list[float], dict[str, float]]:
    """Returns the rewards and the last info."""
    obs, _ = env.reset(seed=seed)
    rewards, over, info = list[float](), False, {}
    while not over:
        obs, reward, over, _, info = env.step(choose(obs))
        rewards.append(reward)
    return rewards, info


@pytest.mark.parametrize("id", IDS)
def test_regret_and_optimal_share_match_a_count_by_hand(id: str):
    env = make_env(EnvConfig(id=id)).unwrapped
    draw, regret, best = np.random.default_rng(0), 0.0, list[bool]()

    def choose(obs: Any) -> int:
        nonlocal regret
        arm = int(draw.integers(env.action_space.n))
        chance = env.chance if id == IDS[2] else env.chance[obs]
        regret += max(chance) - chance[arm]
        best.append(arm == np.argmax(chance))
        return arm

    rewards, info = played(env, 5, choose)
    assert len(rewards) == env.pulls
    assert info["regret"] == pytest.approx(regret)
    assert info["optimal_arm_share"] == pytest.approx(np.mean(best))


def test_an_arm_pays_with_its_probability():
    env = Bandit(pulls=4000, seed=3)
    for arm in (0, 4):
        chance = env.chance[0, arm]
        paid = np.mean(played(env, 1, lambda _, arm=arm: arm)[0])
        assert paid == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / 4000))


def test_the_constructor_seed_decides_fixed_arms_and_the_episode_seed_only_the_outcomes():
    one, same, other = Bandit(seed=0), Bandit(seed=0), Bandit(seed=1)
    assert np.array_equal(one.chance, same.chance)
    assert not np.array_equal(one.chance, other.chance)
    before = one.chance.copy()
    lucks = [played(one, seed, lambda _: 0)[0] for seed in (1, 2)]
    assert np.array_equal(one.chance, before)
    assert lucks[0] != lucks[1]


def test_the_episode_seed_decides_drifting_arms():
    env = DriftingBandit()
    starts = []
    for seed in (1, 2, 1):
        env.reset(seed=seed)
        starts.append(env.chance.copy())
    assert np.array_equal(starts[0], starts[2])
    assert not np.allclose(starts[0], starts[1])
    for _ in range(env.pulls):
        env.step(0)
        assert ((env.chance >= 0) & (env.chance <= 1)).all()
    assert not np.allclose(env.chance, starts[2], atol=0.05)


def test_statistics_are_decayed_shares_of_pulls_and_payouts():
    env = DriftingBandit(arms=3)
    obs, _ = env.reset(seed=0)
    assert obs.tolist() == [0.5] * 3 + [0.0] * 3
    arms, rewards = [0, 2, 2, 0], list[float]()
    for arm in arms:
        obs, reward, *_ = env.step(arm)
        rewards.append(reward)
    weight = DECAY ** np.arange(3, -1, -1)
    for arm in range(3):
        here = np.array(arms) == arm
        pulled, paid = weight[here].sum(), (weight * rewards)[here].sum()
        assert obs[arm] == pytest.approx((paid + 0.5) / (pulled + 1))
        assert obs[3 + arm] == pytest.approx(pulled * (1 - DECAY))


@pytest.mark.parametrize("id", IDS[:2])
def test_the_threshold_is_the_return_of_pulling_the_best_arm_95_times_in_100(id: str):
    facts = resolve(id).config.facts
    env = make_env(EnvConfig(id=id)).unwrapped
    second, best = np.sort(env.chance[0])[-2:]
    assert facts.optimum == pytest.approx(env.pulls * best)
    assert facts.threshold == pytest.approx(env.pulls * (0.95 * best + 0.05 * second), abs=1e-2)
