"""How good was each action? Returns and advantages over a rollout.

Arrays are [T, N]: step t of environment n. `next_value[t]` is V of the state the action led to,
taken before any reset, so the two ways an episode can end differ in one place each:
terminated -> nothing follows (no bootstrap); done -> the next row is another episode (no carry).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gymnast.compiled import kernels

Array = np.ndarray


class Credit(NamedTuple):
    """How good each step was, [T, N], in the units of the rewards that it was computed from."""

    advantage: Array
    """By how much an action is made likelier, before `advantage_norm`."""
    returns: Array
    """What followed: the target of the critic, if there is one."""
    value: Array | None
    """What the critic expected; None where no critic takes part."""


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
    """Generalised advantage estimation (arXiv:1506.02438): advantages and value targets."""
    native = kernels()
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
    """The same bits without compiled code."""
    delta = reward + gamma * np.where(terminated, 0.0, next_value) - value
    keep = gamma * lam * ~done
    advantage = np.empty_like(delta)
    carry = np.zeros_like(delta[0])
    for t in reversed(range(len(delta))):
        carry = delta[t] + keep[t] * carry
        advantage[t] = carry
    return advantage, advantage + value


def n_step(
    reward: Array,
    next_value: Array,
    terminated: Array,
    done: Array,
    *,
    gamma: float,
    n: int,
) -> Array:
    """Discounted sum of up to n rewards, then the value of where they led; cut at episode ends
    and at the end of the rollout."""
    target = reward + gamma * np.where(terminated, 0.0, next_value)
    for _ in range(n - 1):
        longer = reward[:-1] + gamma * target[1:]
        target[:-1] = np.where(done[:-1], target[:-1], longer)
    return target


def reward_to_go(reward: Array, done: Array, *, gamma: float) -> Array:
    """Monte Carlo: discounted rewards from each step to the end of its episode, or of the rollout."""
    nothing = np.zeros_like(reward)
    return gae(reward, nothing, nothing, done, done, gamma=gamma, lam=1.0)[0]


def episode_return(reward: Array, done: Array, *, gamma: float) -> Array:
    """Discounted rewards of a step's whole episode, the same for each of its steps."""
    total = reward_to_go(reward, done, gamma=gamma)
    start = np.concatenate([np.ones_like(done[:1]), done[:-1]])
    for t in range(1, len(total)):
        total[t] = np.where(start[t], total[t], total[t - 1])
    return total


def discounted_so_far(reward: Array, done: Array, carry: Array, *, gamma: float) -> Array:
    """Discounted sum of the rewards an episode has given up to each step, `carry` [N] coming in
    from the rollout before. Its spread is the scale by which rewards are normalised."""
    total = np.empty_like(reward)
    for t in range(len(reward)):
        carry = carry * gamma + reward[t]
        total[t] = carry
        carry = np.where(done[t], 0.0, carry)
    return total
