"""An effect of actions is found if there is one, and not if a policy only reacts to its
observations."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.rl.effect import action_effect, obs_changes, slow_obs_changes


def steps(rng: np.random.Generator, heeds: float, policy: str = "random", n: int = 16):
    """Returns observations [64, n, 3] of a damped walk whose first component an action may push."""
    obs = np.zeros((65, n, 3), np.float32)
    obs[0] = rng.normal(size=(n, 3))
    action = np.zeros((64, n), np.int64)
    for t in range(64):
        drawn = rng.integers(2, size=n)
        # a trained policy mostly reacts to its observations
        follows = rng.random(n) < (0.9 if policy == "follows" else 0.0)
        action[t] = np.where(follows, obs[t, :, 1] > 0, drawn)
        push = heeds * (2 * action[t] - 1)
        noise = rng.normal(size=(n, 3))
        obs[t + 1] = 0.8 * obs[t] + 0.3 * noise + np.stack([push, 0 * push, 0 * push], axis=1)
    return obs[:-1], obs[1:], action, np.ones((64, n), dtype=bool)


def test_an_action_that_moves_the_state_has_an_effect():
    assert action_effect(*steps(np.random.default_rng(0), heeds=0.5)) > 0.5


@pytest.mark.parametrize("policy", ["random", "follows"])
def test_ignored_actions_have_no_effect(policy: str):
    rng = np.random.default_rng(1)
    effect = [action_effect(*steps(rng, heeds=0.0, policy=policy)) for _ in range(20)]
    assert np.mean(effect) < 0.02, "though a policy that follows what it sees correlates with it"


def test_continuous_actions_have_an_effect_too():
    rng = np.random.default_rng(2)
    obs, _, action, valid = steps(rng, heeds=0.0)
    amounts = rng.normal(size=(*action.shape, 2)).astype(np.float32)
    after = obs + 0.1 * rng.normal(size=obs.shape).astype(np.float32)
    after[..., 2] += amounts[..., 1]
    assert action_effect(obs, after, amounts, valid) > 0.9


def test_a_crash_does_not_hide_the_effect():
    obs, after, action, valid = steps(np.random.default_rng(3), heeds=0.5)
    after = after.copy()
    after[::13] += 1000.0
    assert action_effect(obs, after, action, valid) > 0.4


def test_the_effect_is_none_if_it_cannot_be_estimated():
    obs, after, action, valid = steps(np.random.default_rng(4), heeds=0.5)
    assert action_effect(obs, after, np.zeros_like(action), valid) is None, "one action only"
    assert action_effect(obs, obs, action, valid) is None, "nothing moves"
    assert action_effect(obs[:1, :4], after[:1, :4], action[:1, :4], valid[:1, :4]) is None, "few"
    seen = (obs[..., 0] > 0).astype(np.int64)
    linear = obs.copy()
    linear[..., 0] = seen
    assert action_effect(linear, after, seen, valid) is None, (
        "the observation determines the action"
    )


def test_invalid_steps_do_not_count():
    obs, after, action, valid = steps(np.random.default_rng(5), heeds=0.0)
    broken = after.copy()
    broken[32:, :, 0] += 100.0 * action[32:]
    valid = valid.copy()
    valid[32:] = False
    assert action_effect(obs, broken, action, valid) is None
    valid[-12:] = True
    assert action_effect(obs, after, action, valid) < 0.1


@pytest.mark.parametrize("n", [1, 2, 16, 255])
@pytest.mark.parametrize("stride", [1, 3])
def test_changes_are_centered_and_clipped_the_same_compiled_or_not(n: int, stride: int):
    rng = np.random.default_rng(n)
    obs, after = rng.normal(size=(2, n, 7)).astype(np.float32)
    after[::5] += 100.0  # a jump
    after[:, 3] = obs[:, 3]  # a constant component
    after[-1, 6] = np.nan
    found, slow = obs_changes(obs, after, stride), slow_obs_changes(obs, after, stride)
    assert np.array_equal(found, slow, equal_nan=True)
    by_hand = after[:, ::stride].astype(np.float64) - obs[:, ::stride]
    centered = by_hand - np.median(by_hand, axis=0)
    most = 3 * np.median(np.abs(centered), axis=0)
    limited = np.where(most > 0, np.clip(centered, -most, most), centered)
    assert np.array_equal(found[1], limited, equal_nan=True)
