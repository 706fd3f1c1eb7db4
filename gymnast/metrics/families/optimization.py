"""How the optimiser moved the parameters, and what the normalisers hold."""

from __future__ import annotations

from gymnast.metrics import bounds
from gymnast.metrics.metric import INF, Metric

STEPS = "the optimiser steps of this update"
EXPLODING = (
    "Gradients explode. Lower algo.lr, set algo.max_grad_norm, or set normalize.reward: running."
)


PARTS = {
    "actor": "the actor's own parameters",
    "critic": "the critic's own parameters",
    "shared": "the parameters that actor and critic share, where they share any",
}


def _gradient(part: str) -> Metric:
    return Metric(
        f"optim/grad_norm_{part}",
        f"Gradient norm of {PARTS[part]}, before clipping.",
        priority=8,
        estimator="L2 norm",
        window="the last optimiser step of this update",
        bounds=(0, INF),
    )


def _size(part: str) -> Metric:
    return Metric(
        f"optim/param_norm_{part}",
        f"Size of {PARTS[part]}.",
        digits=2,
        priority=9,
        estimator="L2 norm",
        window="after the update",
        bounds=(0, INF),
    )


def _term(name: str, description: str, reason: str = "") -> Metric:
    """One summand of loss/total."""
    return Metric(
        f"loss/{name}",
        description,
        digits=4,
        priority=8,
        estimator="as it enters loss/total, its weight included",
        window="the minibatches of this update",
        bounds=None if reason else (0, INF),
        no_bounds_reason=reason,
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
    _term("policy", "The policy's term of the loss: policy/loss.", "it follows the advantages"),
    _term("value", "The critic's term of the loss: value/loss times algo.value_coef."),
    _term(
        "entropy",
        "The entropy bonus in the loss: minus entropy times algo.entropy_coef.",
        "a density's entropy may be any number",
    ),
    _term("kl", "The penalty in the loss: policy/kl_penalty times algo.kl_coef."),
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
    Metric(
        "optim/grad_norm_max",
        "Largest gradient norm before clipping.",
        priority=7,
        estimator="highest L2 norm",
        window=STEPS,
        bounds=(0, INF),
    ),
    *map(_gradient, PARTS),
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
        "Passes made over the rollout; algo.target_kl, or a budget in updates, may end an update "
        "before algo.epochs.",
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
        "optim/rollbacks",
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
        "optim/update_share",
        "How far the whole update moved the parameters, relative to their size.",
        unit="share",
        digits=2,
        priority=7,
        estimator="optim/update_norm over optim/param_norm",
        window="this update",
        bounds=(0, INF),
        healthy=(0, 0.5),
        if_high="Each update replaces half of what was learned. Halve algo.lr, or algo.epochs.",
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
    *map(_size, PARTS),
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
