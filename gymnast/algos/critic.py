"""What is common to algorithms with a critic: targets in its units, and what they are like."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.policy.policy import Policy
from gymnast.rl.returns import Credit
from gymnast.rl.statistics import (
    error_share,
    explained_share,
    scale_to_unit,
    spread,
    standardize,
)
from gymnast.rollout import Rollout

Array = np.ndarray


def gae_credit(rollout: Rollout, values: Any) -> Credit:
    """Advantages by generalised advantage estimation, and what the critic learns from them."""
    advantage, returns = rollout.advantages(values.gamma, values.gae_lambda)
    return Credit(advantage, returns, rollout.value)


def rescale_value(policy: Policy, target: Array) -> None:
    """Let the value scale take in these targets [B], and rewrite the critic's last layer for it."""
    if policy.value_scale.mode == "off":
        return
    views, last = policy.parameters.views, len(policy.network.critic) - 1
    weight, bias = views[f"critic.{last}.weight"], views[f"critic.{last}.bias"]
    policy.value_scale.learn(target, weight, bias)


def standardized(advantage: Array, valid: Array, *, centered: bool = True) -> Array:
    """Mean 0 and deviation 1 over the valid steps [T, N] of a rollout; not `centered`: root mean square 1,
    with the mean left as it is."""
    scaled = np.zeros_like(advantage)
    scaled[valid] = (standardize if centered else scale_to_unit)(advantage[valid])
    return scaled


def about_values(rollout: Rollout, advantage: Array, target: Array) -> dict[str, float]:
    """The critic that acted, what it should have said, and the advantages before normalisation."""
    keep = rollout.valid
    said, due, gain = (spread(x, keep) for x in (rollout.value, target, advantage))
    missed = spread(target - rollout.value, keep)
    return {
        "value/explained_variance": explained_share(missed, due),
        "value/mean": said.mean,
        "value/std": said.std,
        "value/target_mean": due.mean,
        "value/target_std": due.std,
        "value/bias": missed.mean,
        "value/rmse_share": error_share(missed, due),
        "advantage/mean": gain.mean,
        "advantage/std": gain.std,
        "advantage/min": gain.least,
        "advantage/max": gain.most,
    }
