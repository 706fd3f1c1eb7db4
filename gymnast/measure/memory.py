"""Policy states inside a rollout, and how much a policy with memory makes of them."""

from __future__ import annotations

import numpy as np

from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray


def sampled_states(policy: Policy, rollout: Rollout, limit: int) -> tuple[Array, Array]:
    """Returns up to about `limit` valid steps of a rollout, as indices into the flattened [T * N], and the
    policy states before them, [R, S], as the current parameters lead to them.

    A rollout stores states only where its sequences begin, so the last sequence of some copies is run again.
    """
    assert rollout.memory is not None
    assert rollout.sequences is not None
    steps, n = rollout.valid.shape
    begin = int(rollout.sequences[-1, 0])
    copies = np.linspace(0, n - 1, min(n, max(1, limit // (steps - begin)))).astype(np.int64)
    state = rollout.memory[-1][copies]
    # A long sequence of few copies is cut off: the states of its first steps are enough.
    end = min(steps, begin + max(limit // len(copies), 2))
    rows: list[Array] = []
    states: list[Array] = []
    for t in range(begin, end):
        state = np.where(rollout.start[t, copies][:, None], np.float32(0), state)
        kept = rollout.valid[t, copies]
        rows.append((t * n + copies)[kept])
        states.append(state[kept])
        obs = np.asarray(rollout.obs[t])[copies]
        _, _, state = policy.step(obs, state)
    return np.concatenate(rows), np.concatenate(states)


def memory_row(policy: Policy, obs: Array, mask: Array | None, states: Array) -> dict[str, float]:
    """Returns how far the action distribution depends on the memory: the KL divergence from the distribution
    without memory, mean over the steps that have any. `obs` [R, ...], `mask` and `states` [R, S]: those of
    sampled steps."""
    used = states.any(-1)  # not the first step of an episode
    if not used.any():
        return {}
    obs, states, mask = obs[used], states[used], None if mask is None else mask[used]
    with_memory = policy.dist(obs, mask, states)
    without = policy.dist(obs, mask, policy.initial_state(len(obs)))
    return {"policy/memory_effect": float(policy.head.kl(with_memory, without).mean())}
