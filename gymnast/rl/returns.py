"""Returns and advantages of the steps of a rollout.

Arrays are [T, N]: step t of environment n. `next_value[t]` is the value of the state that the action led
to, before any reset. So the two flags act in one place each: after a terminated step there is no
bootstrap value, and at a done step (terminated or truncated) nothing is carried over from the next
row, which belongs to another episode.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gymnast.compiled import kernels

Array = np.ndarray


class Credit(NamedTuple):
    """Advantages, returns and values, each [T, N], in the units of the rewards that were used."""

    advantage: Array
    """Advantage of each action, before `advantage_norm`."""
    returns: Array
    """Return from each step on; the target of the critic, if there is one."""
    value: Array | None
    """The critic's prediction of the return; None without a critic."""


def gae(
    reward: Array,
    value: Array,
    next_value: Array,
    terminated: Array,
    done: Array,
    *,
    gamma: float,
    lam: float,
) -> tuple[Array, Array]:
    """Returns advantages and value targets, [T, N] each, by generalized advantage estimation
    (arXiv:1506.02438). `value`, `next_value`: the critic's values of the states before and after each step;
    `lam`: the lambda of the paper."""
    native = kernels()
    # the kernel reads values in the dtype of the critic's outputs
    if native is not None and value.dtype == next_value.dtype == np.float32:
        advantage, target = np.empty(reward.shape), np.empty(reward.shape)
        ends = terminated, done
        native.gae(reward, value, next_value, *ends, gamma, lam, advantage, target)
        return advantage, target
    return slow_gae(reward, value, next_value, terminated, done, gamma=gamma, lam=lam)


def slow_gae(
    reward: Array,
    value: Array,
    next_value: Array,
    terminated: Array,
    done: Array,
    *,
    gamma: float,
    lam: float,
) -> tuple[Array, Array]:
    """Returns the same bits as `gae`, without compiled code."""
    # One-step TD errors [T, N]. Only a termination removes the bootstrap value: a truncated episode
    # would have continued.
    delta = reward + gamma * np.where(terminated, 0.0, next_value) - value
    # Eq. 16 of the paper: sum_l (gamma lambda)^l delta_{t+l}.
    advantage = discounted_sums(delta, gamma * lam * ~done)
    return advantage, advantage + value


def discounted_sums(x: Array, decay: Array) -> Array:
    """Returns s with s[t] = x[t] + decay[t] * s[t + 1], [T, N]. `decay` is 0 where an episode ended."""
    total = np.empty_like(x)
    # It starts at 0 because steps after the rollout are unknown; their value is part of x.
    carry = np.zeros_like(x[0])  # [N]
    for t in reversed(range(len(x))):
        carry = x[t] + decay[t] * carry
        total[t] = carry
    return total


def reward_to_go(reward: Array, done: Array, *, gamma: float) -> Array:
    """Returns the discounted sum of rewards from each step to the end of its episode or of the rollout, [T,
    N]."""
    zero = np.zeros_like(reward)  # GAE with a zero critic and lambda 1 is the Monte Carlo return
    return gae(reward, zero, zero, done, done, gamma=gamma, lam=1.0)[0]


def episode_return(reward: Array, done: Array, *, gamma: float) -> Array:
    """Returns for each step the discounted return of its whole episode, from the first step on; only the
    steps within this rollout count, [T, N]."""
    total = reward_to_go(reward, done, gamma=gamma)
    # The return to go of an episode's first step is that of the whole episode: copy it forward.
    start = np.concatenate([np.ones_like(done[:1]), done[:-1]])
    for t in range(1, len(total)):
        total[t] = np.where(start[t], total[t], total[t - 1])
    return total


def consecutive_columns(copies: Array | None) -> list[Array | slice]:
    """Returns the columns of a rollout in groups, in which every env copy appears at most once and which must
    be processed in this order if something is carried along the episodes. `copies`: the copy of each column,
    [N]; None if each is another one."""
    if copies is None:
        return [slice(None)]
    earlier = np.array([np.count_nonzero(copies[:n] == copy) for n, copy in enumerate(copies)])
    return [np.flatnonzero(earlier == k) for k in range(int(earlier.max(initial=0)) + 1)]


def running_discounted_return(reward: Array, done: Array, carry: Array, *, gamma: float) -> Array:
    """Returns the discounted sum of the rewards of an episode up to each step, [T, N].

    `carry` [N] is that sum at the end of the previous rollout, 0 where an episode had ended. The standard
    deviation of the result is the scale of reward normalization.
    """
    total = np.empty_like(reward)
    for t in range(len(reward)):
        carry = carry * gamma + reward[t]
        total[t] = carry  # includes the reward of an episode's last step; the reset comes after
        carry = np.where(done[t], 0.0, carry)
    return total
