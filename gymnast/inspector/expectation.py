"""Compares what the critic expected of an episode with what followed."""

from __future__ import annotations

import numpy as np

from gymnast.inspector.outcome_scale import OutcomeScale
from gymnast.rl.returns import reward_to_go
from gymnast.rollout import Rollout
from gymnast.step_table import StepTargets

Array = np.ndarray


def value_error(rollout: Rollout, targets: StepTargets) -> Array | None:
    """Returns the value minus the discounted return that followed each step, [T], in learned units; None
    without a critic. `rollout`: one episode, [T, 1]; `targets`: its learned rewards and values."""
    if targets.value is None:
        return None
    reward = targets.reward.copy()
    ended = rollout.terminated if targets.bootstraps else rollout.done
    if not ended[-1, 0]:
        # What would have followed is not known: the critic's estimate replaces it.
        future = rollout.next_value[-1, 0]
        reward[-1, 0] += targets.gamma * (0.0 if np.isnan(future) else future)
    followed = reward_to_go(reward, rollout.done, gamma=targets.gamma)
    return (targets.value - followed)[:, 0]


def expected_outcome(
    raw_return: float, value_error: Array, raw_per_unit: float, scale: OutcomeScale
) -> Array:
    """Returns the return of the whole episode that the critic expected at each step, [T], on the outcome
    scale: 0 is its low end or less, 1 its high end or more. `raw_return`: that of the episode; `value_error`:
    that of each step, in learned units; `raw_per_unit`: raw reward per unit of learned reward, shaping aside.

    A critic that is always right thus expects the true return from the first step on, although its values
    are discounted.
    """
    expected = raw_return + value_error * raw_per_unit
    return np.clip((expected - scale.low) / scale.width, 0.0, 1.0)
