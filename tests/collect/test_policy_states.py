"""Collecting with memory: states follow their episodes, and sequences start from the states that were."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gymnast.engine.batch import Batch
from gymnast.engine.sequences import sequences_of
from gymnast.rl.sequences import plan_sequences
from gymnast.rollout import Rollout
from tests.algos.harness import BOTH_ENGINES, LearnerHarness

N, T = 3, 17
SETTINGS = {
    "env.n_envs": N,
    "algo.n_steps": T,
    "policy.memory": "lstm:6",
    "policy.hidden": [8],
    "policy.bptt": 5,
    "normalize.obs": "off",
}


def practice_with(**more: Any) -> LearnerHarness:
    practice = LearnerHarness.make("Script", SETTINGS | more)
    rng = np.random.default_rng(0)
    for view in practice.learner.policy.parameters.views.values():
        view += rng.normal(0, 0.3, view.shape).astype(np.float32)
    return practice


def collect(practice: LearnerHarness, rollouts: int) -> list[Rollout]:
    """Returns rollouts of a policy that does not learn, so that its states can be computed again."""
    found = []
    for _ in range(rollouts):
        found.append(practice.collect())
        practice.clock.rollouts += 1
    return found


def expected_states(practice: LearnerHarness, rollouts: list[Rollout]) -> np.ndarray:
    """Returns the policy state before every step, [steps, N, S], from the observations alone: every episode
    is unrolled from its own start."""
    policy = practice.learner.policy
    obs, start = (
        np.concatenate([np.asarray(getattr(r, name)) for r in rollouts])
        for name in ("obs", "start")
    )
    states = np.zeros((*start.shape, policy.state_size), np.float32)
    for copy in range(N):
        begins = [*np.flatnonzero(start[:, copy]), len(start)]
        for first, last in pairwise(begins):
            states[first:last, copy] = policy.unroll(obs[first:last, copy])[:-1]
    return states


@BOTH_ENGINES
@pytest.mark.parametrize("burn_in", [0, 3])
def test_every_sequence_has_the_state_that_its_episode_had_there(burn_in: int, engine: str):
    practice = practice_with(**{"policy.burn_in": burn_in, "engine": engine})
    rollouts = collect(practice, 3)
    expected = expected_states(practice, rollouts).reshape(3, T, N, -1)
    for rollout, states in zip(rollouts, expected, strict=True):
        assert rollout.memory is not None
        assert rollout.sequences is not None
        assert rollout.sequences[:, 1].tolist() == [0, 4, 8, 12]
        assert rollout.sequences[:, 0].tolist() == [max(t - burn_in, 0) for t in (0, 4, 8, 12)]
        for (at, _), stored in zip(rollout.sequences, rollout.memory, strict=True):
            assert np.allclose(stored, states[at], atol=1e-6)
            assert not stored[rollout.start[at]].any()


@BOTH_ENGINES
def test_decisions_and_values_are_those_of_the_states_and_truncated_ends_are_valued_with_theirs(
    engine: str,
):
    practice = practice_with(engine=engine)
    policy, rollouts = practice.learner.policy, collect(practice, 2)
    states = expected_states(practice, rollouts).reshape(2, T, N, -1)
    cut = 0
    for rollout, before in zip(rollouts, states, strict=True):
        for t in range(T):
            dist, value, after = policy.step(np.asarray(rollout.obs[t]), before[t])
            assert np.allclose(rollout.dist[t], dist, atol=1e-5)
            assert np.allclose(rollout.value[t], value, atol=1e-5)
            step, ended = rollout.final_at
            at_t = (step == t) & ~rollout.terminated[step, ended]
            copies = ended[at_t]
            if len(copies):
                expected = policy.value(rollout.final_obs[at_t], after[copies])
                assert np.allclose(rollout.next_value[t, copies], expected, atol=1e-5)
            cut += len(copies)
            if t + 1 < T:
                on = ~rollout.done[t]
                assert np.allclose(rollout.next_value[t, on], rollout.value[t + 1, on])
    assert cut > 2
    last = rollouts[0].next_value[-1]
    on = ~rollouts[0].done[-1]
    assert np.allclose(last[on], rollouts[1].value[0, on], atol=1e-5)


@pytest.mark.parametrize("burn_in", [0, 2, 100])
@pytest.mark.parametrize(("steps", "bptt"), [(16, 4), (17, 5), (5, 64), (1, 1), (128, 32), (10, 9)])
def test_sequences_cover_every_step_once_and_are_of_nearly_equal_length(
    steps: int, bptt: int, burn_in: int
):
    plan = plan_sequences(steps, bptt, burn_in)
    lengths = np.diff([*plan[:, 1], steps])
    assert plan[0].tolist() == [0, 0]
    assert lengths.min() >= 1
    assert lengths.max() <= bptt
    assert lengths.max() - lengths.min() <= 1
    assert np.array_equal(plan[:, 0], np.maximum(plan[:, 1] - burn_in, 0))


@pytest.mark.parametrize("burn_in", [0, 3])
def test_the_rows_of_a_batch_are_whole_sequences_and_every_valid_step_counts_once(burn_in: int):
    practice = practice_with(**{"policy.burn_in": burn_in})
    rollout = collect(practice, 1)[0]
    valid = rollout.valid.copy()
    valid[:9, 1] = (
        False  # an opponent may have played; then two sequences have nothing to learn from
    )
    valid[3, 0] = False
    object.__setattr__(rollout, "valid", valid)
    sequences, source = sequences_of(rollout)
    assert sequences.count == 4 * N - 2
    assert sequences.length == 5 + burn_in
    learned = source[sequences.weight > 0]
    assert np.array_equal(np.sort(learned), np.flatnonzero(valid))
    # Rows of one sequence are consecutive steps of one copy, until padding repeats the last.
    steps = source.reshape(sequences.length, -1)
    assert set(np.diff(steps, axis=0).ravel().tolist()) <= {N, 0}
    batch = Batch.from_rollout(practice.learner.policy, rollout, np.zeros((T, N)), np.zeros((T, N)))
    assert np.array_equal(np.asarray(batch.features), rollout.obs.reshape(T * N, -1)[source])  # type: ignore[union-attr]
    chosen = np.array([3, 0, 7])
    some = sequences.select(chosen)
    assert np.array_equal(some.start, sequences.start[sequences.rows(chosen)])
    assert np.array_equal(some.state, sequences.state[chosen])


def test_the_policy_before_an_update_gives_ratios_of_1_to_its_own_rollout():
    """States, resets and order of the sequences fit the collected log-probabilities."""
    for engine in ("native", "torch"):
        practice = practice_with(engine=engine, **{"algo.lr": 0.0, "algo.epochs": 1})
        practice.collect()
        practice.clock.rollouts += 1
        metrics = practice.learn(practice.collect())
        assert metrics["policy/ratio_max"] == pytest.approx(1.0, abs=1e-4)
        assert metrics["policy/kl"] == pytest.approx(0.0, abs=1e-8)
