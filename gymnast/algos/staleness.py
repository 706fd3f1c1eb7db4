"""Corrects rollouts of an older policy, so that the current policy can learn from them: PPO and A2C then use
V-trace in place of GAE."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gymnast.policy.policy import Policy
from gymnast.rl.vtrace import importance_weights
from gymnast.rollout import Rollout

Array = np.ndarray
MAX_ROWS = 4096
"""Largest number of observations per forward pass. Stacked images are copied for it, each frame several
times, which must not double the memory of a run."""
MARGIN = 1.01
"""Factor above the cap from which on a ratio counts as clipped in `hosts/clipped_rho`."""


def correct_staleness(
    policy: Policy, rollout: Rollout, *, max_rho: float, max_c: float
) -> tuple[Rollout, dict[str, float]]:
    """Returns the rollout with the values of `policy` and importance weights, and metrics.

    Distributions and log-probabilities stay those of the policy that collected it: PPO clips its ratios
    around that policy. Measured from the current policy instead, each of the updates that a rollout is late
    would move the policy by another clip range before the effect of the first shows, which oscillates.
    """
    assert rollout.staleness is not None
    logprob, value, next_value = _evaluate(policy, rollout)
    rho, c = importance_weights(
        logprob, rollout.logprob, rollout.valid, max_rho=max_rho, max_c=max_c
    )
    # A margin, since the ratios of a policy that did not change are 1 only up to rounding.
    clipped = logprob - rollout.logprob > np.log(MARGIN * max_rho)
    corrected = replace(rollout, value=value, next_value=next_value, rho=rho, trace_cut=c)
    return corrected, {
        "hosts/staleness": float(rollout.staleness.mean()),
        "hosts/staleness_max": float(rollout.staleness.max()),
        "hosts/clipped_rho": float(clipped[rollout.valid].mean()),
    }


def _evaluate(policy: Policy, rollout: Rollout) -> tuple[Array, Array, Array]:
    """Returns the log-probabilities of the actions, the values, and the values of the true next observations,
    [T, N] each, under `policy`."""
    shape, n_rows = rollout.reward.shape, rollout.reward.size
    obs = rollout.obs.reshape(n_rows, *rollout.obs.shape[2:])
    action = rollout.action.reshape(n_rows, *rollout.action.shape[2:])
    mask = None if rollout.mask is None else rollout.mask.reshape(n_rows, -1)
    logprob, value = np.empty(n_rows, np.float32), np.empty(n_rows, np.float32)
    for first in range(0, n_rows, MAX_ROWS):
        part = slice(first, first + MAX_ROWS)
        logprob[part], value[part] = policy.evaluate_actions(
            np.asarray(obs[part]), action[part], None if mask is None else mask[part]
        )
    value = value.reshape(shape)
    # Where an episode ended, the next row belongs to another one.
    next_value = np.empty_like(value)
    next_value[:-1], next_value[-1] = value[1:], policy.value(rollout.last_obs)
    if len(rollout.final_obs):
        next_value[rollout.final_at] = policy.value(rollout.final_obs)
    return logprob.reshape(shape), value, next_value
