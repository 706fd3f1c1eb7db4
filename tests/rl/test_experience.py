"""Statistics of a rollout's steps are the same with and without compiled code, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.rl.rollout_stats import RolloutStats, rollout_stats, slow_rollout_stats

T, N, K = 13, 5, 6
CHOICES = {"choices": 3, "amounts": 0, "several": 0}


def columns(kind: str, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    actions = {
        "choices": rng.integers(3, size=(T, N)),
        "amounts": rng.normal(size=(T, N, 2)).astype(np.float32),
        "several": rng.integers(4, size=(T, N, 2)),
    }
    done = rng.random((T, N)) < 0.4
    return [
        rng.normal(size=(T, N)) * rng.integers(2, size=(T, N)),
        actions[kind],
        rng.normal(size=(T, N)).astype(np.float32),
        done & (rng.random((T, N)) < 0.5),
        done,
    ]


def observations(kind: str) -> np.ndarray | None:
    held = np.zeros((T, N), [("kind", np.int64), ("at", np.float32, (K,))])
    held["at"] = np.random.default_rng(1).normal(3, 2, (T, N, K))
    return {"none": None, "vector": held["at"].copy(), "in a record": held["at"]}[kind]


@pytest.mark.parametrize("kept", ["all", "some"])
@pytest.mark.parametrize("seen", ["none", "vector", "in a record"])
@pytest.mark.parametrize("kind", CHOICES)
def test_statistics_are_the_same_compiled_or_not(kind: str, seen: str, kept: str):
    keep = None if kept == "all" else np.random.default_rng(2).random((T, N)) < 0.6
    given, obs = columns(kind), observations(seen)
    for each in (False, True):
        found = rollout_stats(*given, obs, keep, n_actions=CHOICES[kind], per_component=each)
        assert found == slow_rollout_stats(
            *given, obs, keep, n_actions=CHOICES[kind], per_component=each
        )


def test_only_kept_steps_are_counted():
    reward, action, logprob, terminated, done = columns("choices", seed=3)
    keep = np.ones((T, N), dtype=bool)
    keep[:4] = False
    found: RolloutStats = rollout_stats(
        reward,
        action,
        logprob,
        terminated,
        done,
        observations("vector"),
        keep,
        n_actions=3,
        per_component=True,
    )
    steps = [(t, n) for t in range(4, T) for n in range(N)]
    assert found.n_done == sum(bool(done[at]) for at in steps)
    assert found.n_truncated == sum(bool(done[at] and not terminated[at]) for at in steps)
    assert found.n_rewarded == sum(reward[at] != 0 for at in steps)
    assert found.action_counts == [sum(action[at] == option for at in steps) for option in range(3)]
    shown = observations("vector")
    assert shown is not None
    assert found.obs_means == pytest.approx(shown[4:].mean((0, 1)), rel=1e-5)


def test_actions_of_other_dtypes_are_supported_without_kernels():
    given = columns("several")
    given[1] = given[1].astype(np.int8)
    assert rollout_stats(*given, None, None).action.maximum == given[1].max()
