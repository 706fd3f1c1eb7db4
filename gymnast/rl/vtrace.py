"""V-trace (Espeholt et al., arXiv:1802.01561): advantages and value targets of steps that an older policy
collected.

Arrays are [T, N] and mean what they mean in `rl/returns.py`. With the behavior policy mu, which sampled the
actions, and the current policy pi, the importance ratio of a step is pi(action) / mu(action). Clipped ratios
are used: `rho` weights the TD error of a step, and `c` limits how far later errors reach back through it.
With all weights 1, the results are those of GAE.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gymnast.rl.returns import discounted_sums

Array = np.ndarray


class ImportanceWeights(NamedTuple):
    """Clipped importance ratios of the steps of a rollout, [T, N] each."""

    rho: Array
    """Weights of the TD errors. Their cap determines the policy whose values the targets estimate: one
    between mu and pi; pi itself without a cap."""
    c: Array
    """Weights of what is carried back from later steps. Their cap only affects the variance and the speed of
    learning, not what is estimated."""


def importance_weights(
    logprob: Array, behavior_logprob: Array, valid: Array, *, max_rho: float, max_c: float
) -> ImportanceWeights:
    """Returns the clipped importance ratios. `logprob`, `behavior_logprob`: log-probabilities of the actions
    under the current policy and under the one that sampled them; the ratio of invalid steps is 1."""
    # clipped before exp, which would overflow for actions that have become much more likely
    log_ratio = np.where(valid, logprob.astype(np.float64) - behavior_logprob, 0.0)
    rho, c = (np.exp(np.minimum(log_ratio, np.log(cap))) for cap in (max_rho, max_c))
    for weight, cap in ((rho, max_rho), (c, max_c)):
        np.minimum(weight, cap, out=weight)  # exp(log(cap)) may exceed the cap by rounding
    return ImportanceWeights(rho, c)


def vtrace(
    reward: Array,
    value: Array,
    next_value: Array,
    terminated: Array,
    done: Array,
    weights: ImportanceWeights,
    *,
    gamma: float,
    lam: float,
) -> tuple[Array, Array]:
    """Returns advantages and value targets, [T, N] each. `value`, `next_value`: values of the states before
    and after each step, under the current critic.

    `lam` scales `c`, as the paper proposes (remark 2). The advantage is reward + gamma * Q' - value, where
    Q', the value of the next state, mixes its V-trace target and the critic's value with the weights lam and
    1 - lam: so it is that of GAE with the same lambda if all weights are 1, and with lam = 1 that of the
    paper. It is not yet weighted: a policy gradient must weight it by `rho`, as the paper does, or by the
    ratio itself, as the surrogate objective of PPO does.
    """
    rho, c = weights
    # As in GAE: only a termination removes the bootstrap value, and nothing is carried over any end.
    delta = reward + gamma * np.where(terminated, 0.0, next_value) - value
    decay = gamma * lam * ~done
    # The V-trace target of each step minus its value: equation 1 of the paper, backward in time (remark 1).
    correction = discounted_sums(rho * delta, decay * c)
    following = np.zeros_like(correction)
    following[:-1] = correction[1:]
    return delta + decay * following, correction + value
