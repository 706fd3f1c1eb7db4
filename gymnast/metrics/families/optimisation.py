"""How the optimiser moved the parameters, and what the normalisers hold."""

from __future__ import annotations

from gymnast.metrics import bounds
from gymnast.metrics.metric import INF, Metric

STEPS = "the optimiser steps of this update"
EXPLODING = (
    "Gradients explode. Lower algo.lr, set algo.max_grad_norm, or set normalize.reward: running."
)


def _part_norm(part: str) -> Metric:
    return Metric(
        f"optim/grad_norm_{part}",
        f"Gradient norm of the {part}'s own parameters, before clipping.",
        priority=8,
        estimator="L2 norm",
        window="the last optimiser step of this update",
        bounds=(0, INF),
    )


METRICS = (
    Metric(
        "loss/total",
        "What the optimiser minimises: policy, value, entropy and penalty terms, weighted.",
        digits=4,
        priority=7,
        window="the minibatches of this update",
        no_bounds_reason="a sum with the policy loss and entropy bonus, which have either sign",
    ),
    # ---- optimiser ------------------------------------------------------------------------------
    Metric(
        "optim/grad_norm",
        "Gradient norm before clipping.",
        priority=4,
        estimator="mean of the L2 norm",
        window=STEPS,
        bounds=(0, INF),
        healthy=(0, 1e4),
        if_high=EXPLODING,
        in_table=True,
    ),
    _part_norm("actor"),
    _part_norm("critic"),
    Metric(
        "optim/clipped_share",
        "Share of optimiser steps whose gradient algo.max_grad_norm cut.",
        unit="share",
        digits=0,
        priority=7,
        window=STEPS,
        bounds=(0, 1),
    ),
    Metric(
        "optim/epochs",
        "Passes made over the rollout; algo.target_kl may end an update before algo.epochs.",
        digits=0,
        priority=6,
        window="this update",
        bounds=bounds.epochs,
        in_table=True,
    ),
    Metric(
        "optim/kl_stop",
        "1 where algo.target_kl ended this update early, else 0.",
        digits=0,
        priority=7,
        window="this update",
        bounds=(0, 1),
    ),
    Metric(
        "optim/undone",
        "Attempts at this update that broke the policy and were undone; 2: the batch was dropped.",
        digits=0,
        better="lower",
        priority=7,
        window="this update",
        bounds=(0, 2),
        healthy=(0, 0.2),
        if_high="Updates are too large or the numbers overflow. Lower algo.lr; see the incidents.",
    ),
    Metric(
        "optim/update_norm",
        "How far the whole update moved the parameters.",
        digits=4,
        priority=7,
        estimator="L2 norm of parameters after minus before",
        window="this update",
        bounds=(0, INF),
    ),
    Metric(
        "optim/param_norm",
        "Size of all parameters together.",
        digits=2,
        priority=8,
        estimator="L2 norm",
        window="after the update",
        bounds=(0, INF),
    ),
    # ---- normalisers: part of the training state ------------------------------------------------
    Metric(
        "normalize/obs_count",
        "Observations behind the running mean and spread.",
        digits=0,
        priority=9,
        window="since the run began, over all attempts",
        bounds=(0, INF),
    ),
    Metric(
        "normalize/reward_scale",
        "What rewards are divided by: running standard deviation of the discounted return.",
        priority=7,
        window="since the run began, over all attempts",
        bounds=(0, INF),
    ),
    Metric(
        "normalize/value_mean",
        "Mean of the value targets that PopArt holds.",
        priority=9,
        window="running",
        no_bounds_reason="bootstrapped from predictions, which may be wrong by any amount",
    ),
    Metric(
        "normalize/value_std",
        "Standard deviation of the value targets that PopArt holds.",
        priority=9,
        window="running",
        bounds=(0, INF),
    ),
)
