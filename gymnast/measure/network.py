"""Metrics of the network: dead and saturated units, and the distribution of its outputs."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from gymnast.images import ObsArray
from gymnast.measure.memory import memory_row, sampled_states
from gymnast.metrics.families.network import EXPENSIVE_SAMPLE, SAMPLE
from gymnast.policy.health import UnitStats
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray


def network_row(policy: Policy, rollout: Rollout) -> dict[str, float]:
    """Returns the metrics of the current network on evenly spaced valid steps of a rollout: hidden units,
    outputs, for discrete actions the probabilities, and the effect of memory."""
    limit, states = EXPENSIVE_SAMPLE if policy.network.is_expensive else SAMPLE, None
    rows = _evenly(rollout, limit)
    if policy.state_size:
        some, states = sampled_states(policy, rollout, limit)
        # A role may have no valid step in the last sequence: then its first steps are as good.
        rows, states = (some, states) if len(some) else (rows, policy.initial_state(len(rows)))
    mask = None if rollout.mask is None else np.asarray(_rows_of(rollout.mask, rows))
    obs = np.asarray(_rows_of(rollout.obs, rows))
    health = policy.health(obs, mask, states)
    row = _units(health.shared, health.actor, health.critic)
    if states is not None:
        row |= memory_row(policy, obs, mask, states)
    row |= {"network/output_mean": health.output_mean, "network/output_std": health.output_std}
    if policy.head.has_logits:
        row["network/logit_range"] = health.logit_range
    if not policy.action_space.options:
        return row
    return row | {"policy/prob_max_mean": health.prob_max, "policy/prob_min_mean": health.prob_min}


def _units(shared: UnitStats, actor: UnitStats, critic: UnitStats) -> dict[str, float]:
    """Returns the metrics of hidden units; none for a network without known hidden units. The arguments are
    the statistics of the shared layers, and of those of actor and critic alone."""
    every = shared.add(actor).add(critic)
    if not every.outputs:
        return {}
    mean = every.total / every.outputs
    variance = every.squares / every.outputs - mean * mean
    row = {
        "network/activation_mean": mean,
        # Rounding may make a variance of 0 slightly negative. `* 0.0` keeps NaN, which must be visible.
        "network/activation_std": math.sqrt(variance) if variance > 0 else variance * 0.0,
    }
    if every.rectifiers:
        row["network/dead_units"] = every.dead / every.rectifiers
    if actor.rectifiers and critic.rectifiers:  # each has hidden layers of its own
        row["network/dead_units_actor"] = actor.dead / actor.rectifiers
        row["network/dead_units_critic"] = critic.dead / critic.rectifiers
    if every.tanh:
        row["network/saturated_units"] = every.saturated / every.tanh
    return row


def _evenly(rollout: Rollout, limit: int) -> Array:
    """Returns the indices of up to `limit` evenly spaced valid steps in the flattened [T * N]."""
    if rollout.all_valid:
        return _spaced(rollout.valid.size, limit)
    valid = np.flatnonzero(rollout.valid)
    return valid[_spaced(len(valid), limit)]


@lru_cache(8)  # most rollouts have the same size
def _spaced(n: int, limit: int) -> Array:
    """Returns up to `limit` evenly spaced indices from 0 to n - 1."""
    return np.linspace(0, n - 1, min(limit, n)).astype(np.int64)


def _rows_of(x: ObsArray, rows: Array) -> ObsArray:
    """Returns the entries of x [T, N, ...] at `rows`, indices into the flattened [T * N]."""
    return x.reshape(-1, *x.shape[2:])[rows]
