"""How far an update moved the policy: reported alike by every policy-gradient algorithm."""

from __future__ import annotations

import numpy as np

from gymnast.policy.policy import Policy

Array = np.ndarray


def shift(
    policy: Policy,
    obs: Array,
    action: Array,
    old_dist: Array,
    mask: Array | None,
    clip: float | None,
) -> dict[str, float]:
    """Between the distributions that acted and the policy as it is now, over the whole batch. KL is
    exact, KL(old || new), from the stored parameters."""
    head, new_dist = policy.head, policy.dist(obs, mask)
    ratio = np.exp(head.logprob(new_dist, action) - head.logprob(old_dist, action))
    report = {
        "policy/kl": float(head.kl(old_dist, new_dist).mean()),
        "policy/entropy": float(head.entropy(new_dist).mean()),
        "policy/ratio_mean": float(ratio.mean()),
        "policy/ratio_max": float(ratio.max()),
    }
    if clip is not None:
        report["policy/clip_fraction"] = float((np.abs(ratio - 1) > clip).mean())
    return report
