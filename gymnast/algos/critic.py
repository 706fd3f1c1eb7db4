"""Advantages, value targets and value metrics, shared by all algorithms with a critic."""

from __future__ import annotations

import numpy as np

from gymnast.policy.policy import Policy
from gymnast.rl.returns import Credit
from gymnast.rl.statistics import (
    explained_share,
    relative_rmse,
    scale_to_unit,
    standardize,
    summary_stats,
)
from gymnast.rollout import Rollout

Array = np.ndarray


def gae_credit(rollout: Rollout, gamma: float, gae_lambda: float) -> Credit:
    """Returns GAE advantages, the returns they imply (advantage + value) and the values, each [T, N], in
    reward units. Those of V-trace if an older policy collected the rollout (`algos/staleness.py`)."""
    advantage, returns = rollout.advantages(gamma, gae_lambda)
    return Credit(advantage, returns, rollout.value)


def importance_weighted(advantage: Array, rollout: Rollout) -> Array:
    """Returns advantages [T, N] as a plain policy gradient uses them: weighted by the clipped importance
    ratios if an older policy collected the rollout. The surrogate objective of PPO has the ratios itself."""
    return advantage if rollout.rho is None else advantage * rollout.rho


def rescale_value(policy: Policy, target: Array) -> None:
    """Updates the PopArt statistics with value targets [B], and the critic's last layer with them.

    The critic's predictions in reward units do not change. Does nothing if normalize.value is off.
    """
    if policy.value_scale.mode == "off":
        return
    # The policy rejects PopArt without a critic of known layers, so this layer exists.
    views, last = policy.parameters.views, len(policy.network.critic) - 1
    weight, bias = views[f"critic.{last}.weight"], views[f"critic.{last}.bias"]
    policy.value_scale.update(target, weight, bias)


def standardize_advantage(advantage: Array, valid: Array, *, centered: bool = True) -> Array:
    """Returns advantages [T, N] with mean 0 and standard deviation 1 over the valid steps of a rollout.

    With `centered=False` the mean is kept, and the root mean square becomes 1. Invalid steps are 0.
    """
    scaled = np.zeros_like(advantage)
    scaled[valid] = (standardize if centered else scale_to_unit)(advantage[valid])
    return scaled


def value_metrics(rollout: Rollout, advantage: Array, target: Array) -> dict[str, float]:
    """Returns how well the values predicted during collection fit the targets, and advantage statistics.

    `advantage` and `target` are [T, N]; the advantages are those before any normalization.
    """
    valid = rollout.valid
    values, targets, advantages = (
        summary_stats(x, valid) for x in (rollout.value, target, advantage)
    )
    errors = summary_stats(target - rollout.value, valid)
    return {
        "value/explained_variance": explained_share(errors, targets),
        "value/mean": values.mean,
        "value/std": values.std,
        "value/target_mean": targets.mean,
        "value/target_std": targets.std,
        "value/bias": errors.mean,  # explained variance is blind to a constant offset; this shows it
        "value/rmse_share": relative_rmse(errors, targets),
        "advantage/mean": advantages.mean,
        "advantage/std": advantages.std,
        "advantage/min": advantages.minimum,
        "advantage/max": advantages.maximum,
    }
