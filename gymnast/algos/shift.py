"""How far an update moved the policy: reported alike by every policy-gradient algorithm."""

from __future__ import annotations

import numpy as np

from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout


def shift(policy: Policy, rollout: Rollout, clip: float | None = None) -> dict[str, float]:
    """Between the distributions that acted and the policy as it is now, over the whole batch. KL is
    exact, KL(old || new), from the stored parameters."""
    keep, head = rollout.valid, policy.head
    action, old = rollout.action[keep], rollout.dist[keep]
    new = policy.dist(rollout.obs[keep], None if rollout.mask is None else rollout.mask[keep])
    ratio = np.exp(head.logprob(new, action) - head.logprob(old, action))
    report = {
        "policy/kl": float(head.kl(old, new).mean()),
        "policy/entropy": float(head.entropy(new).mean()),
        "policy/ratio_mean": float(ratio.mean()),
        "policy/ratio_max": float(ratio.max()),
    }
    if clip is not None:
        report["policy/clip_fraction"] = float((np.abs(ratio - 1) > clip).mean())
    return report
