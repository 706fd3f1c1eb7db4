"""A potential preserves the optimal policy; faulty variants of it do not, and are detected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.shaping.potential import potential_difference

Array = np.ndarray
Shape = Callable[..., Array]


@dataclass(frozen=True)
class Task:
    """A small Markov decision process; arrays are [states, actions, outcomes]."""

    probability: Array
    following: Array
    reward: Array
    terminated: Array
    phi: Array
    """Potential of each state, [states]."""
    gamma: float

    def worth(self, reward: Array) -> Array:
        """Returns Q of the optimal policy under these rewards, by value iteration to convergence."""
        value = np.zeros(len(self.phi))
        while True:
            continues = np.where(self.terminated, 0.0, self.gamma * value[self.following])
            q = (self.probability * (reward + continues)).sum(-1)
            if np.abs(q.max(-1) - value).max() < 1e-11:
                return q
            value = q.max(-1)

    def shaped(self, shape: Shape) -> Array:
        before = np.broadcast_to(self.phi[:, None, None], self.reward.shape)
        after = self.phi[self.following]
        return self.reward + shape(before, after, self.terminated, gamma=self.gamma)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    n, k, m = draw(st.integers(2, 4)), draw(st.integers(2, 3)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weight = rng.integers(1, 5, (n, k, m)).astype(float)
    return Task(
        probability=weight / weight.sum(-1, keepdims=True),
        following=rng.integers(0, n, (n, k, m)),
        reward=rng.integers(-4, 5, (n, k, m)).astype(float),
        terminated=rng.random((n, k, m)) < 0.3,
        phi=rng.integers(-9, 10, n).astype(float),
        gamma=draw(st.sampled_from([0.0, 0.5, 0.8, 0.9])),
    )


def keeps_the_best_policy(shape: Shape) -> None:
    """Asserts that the optimal policy for shaped rewards is optimal for raw ones, in many random tasks."""

    @given(tasks())
    @settings(max_examples=150, derandomize=True, database=None)
    def holds(task: Task) -> None:
        raw, shaped = task.worth(task.reward), task.worth(task.shaped(shape))
        chosen = shaped.argmax(-1)
        given_up = raw.max(-1) - raw[np.arange(len(raw)), chosen]
        assert given_up.max() < 1e-6

    holds()


def without_gamma(before: Array, after: Array, ended: Array, *, gamma: float) -> Array:  # noqa: ARG001
    return np.where(ended, 0.0, after) - before


def without_end(before: Array, after: Array, ended: Array, *, gamma: float) -> Array:  # noqa: ARG001
    return gamma * after - before


def bonus(before: Array, after: Array, ended: Array, *, gamma: float) -> Array:  # noqa: ARG001
    return after


def test_14_a_potential_preserves_the_optimal_policy():
    keeps_the_best_policy(potential_difference)


@pytest.mark.parametrize("wrong", [without_gamma, without_end, bonus])
def test_14_wrong_potential_terms_change_the_optimal_policy(wrong: Shape):
    with pytest.raises(AssertionError):
        keeps_the_best_policy(wrong)


@given(tasks())
@settings(max_examples=50)
def test_a_potential_shifts_all_action_values_of_a_state_equally(task: Task):
    raw, shaped = task.worth(task.reward), task.worth(task.shaped(potential_difference))
    assert shaped == pytest.approx(raw - task.phi[:, None], abs=1e-8)
