"""Metrics of the loss terms, the optimizer, the parameters and the running normalizers."""

from __future__ import annotations

from gymnast.metrics import bounds
from gymnast.metrics.metric import INF, Metric

STEPS = "the optimizer steps of this update"
EXPLODING = "The gradients explode. Lower algo.lr, set algo.max_grad_norm, or set normalize.reward: running."


PARTS = {
    "actor": "the actor's own parameters",
    "critic": "the critic's own parameters",
    "shared": "the parameters that actor and critic share, where they share any",
}


def _gradient(part: str) -> Metric:
    """Declares the metric for the gradient norm of one of PARTS, before clipping."""
    return Metric(
        f"optim/grad_norm_{part}",
        f"Gradient norm of {PARTS[part]}, before clipping.",
        priority=8,
        estimator="L2 norm",
        window="the last optimizer step of this update",
        bounds=(0, INF),
    )


def _size(part: str) -> Metric:
    """Declares the metric for the norm of the parameters of one of PARTS."""
    return Metric(
        f"optim/param_norm_{part}",
        f"Norm of {PARTS[part]}.",
        digits=2,
        priority=9,
        estimator="L2 norm",
        window="after the update",
        bounds=(0, INF),
    )


def _term(name: str, description: str, reason: str = "") -> Metric:
    """Declares one term of loss/total. `reason`: why it has no bounds; without a reason, its bounds are 0 to
    infinity."""
    return Metric(
        f"loss/{name}",
        description,
        digits=4,
        priority=8,
        estimator="as added to loss/total, including its coefficient",
        window="the minibatches of this update",
        bounds=None if reason else (0, INF),
        no_bounds_reason=reason,
    )


METRICS = (
    Metric(
        "loss/total",
        "Total loss that the optimizer minimizes: weighted sum of policy, value, entropy and KL terms.",
        digits=4,
        priority=7,
        window="the minibatches of this update",
        no_bounds_reason="it includes the policy loss and the entropy bonus, which may have either sign",
    ),
    _term("policy", "Policy term of the loss: policy/loss.", "it follows the advantages"),
    _term("value", "Value term of the loss: value/loss times algo.value_coef."),
    _term(
        "entropy",
        "Entropy term of the loss: minus the entropy times algo.entropy_coef.",
        "differential entropy may be any number",
    ),
    _term("kl", "KL term of the loss: policy/kl_penalty times algo.kl_coef."),
    # ---- optimizer ------------------------------------------------------------------------------
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
        "Share of optimizer steps whose gradient was clipped by algo.max_grad_norm.",
        unit="share",
        digits=0,
        priority=7,
        window=STEPS,
        bounds=(0, 1),
    ),
    Metric(
        "optim/epochs",
        "Epochs over the rollout in this update; algo.target_kl or a budget in updates may stop it before "
        "algo.epochs.",
        digits=0,
        priority=6,
        window="this update",
        bounds=bounds.epochs,
        in_table=True,
    ),
    Metric(
        "optim/kl_stop",
        "1 if algo.target_kl stopped this update early, else 0.",
        digits=0,
        priority=7,
        window="this update",
        bounds=(0, 1),
    ),
    Metric(
        "optim/rollbacks",
        "Times this update was rolled back because it broke the policy; 2: the batch was dropped.",
        digits=0,
        better="lower",
        priority=7,
        window="this update",
        bounds=(0, 2),
        healthy=(0, 0.2),
        if_high="Updates are too large, or numbers overflow. Lower algo.lr; see the run's incidents.",
    ),
    Metric(
        "optim/update_norm",
        "Norm of the change of the parameters over the whole update.",
        digits=4,
        priority=7,
        estimator="L2 norm of the parameters after the update minus before it",
        window="this update",
        bounds=(0, INF),
    ),
    Metric(
        "optim/update_share",
        "Norm of the change of the parameters over the whole update, relative to their norm.",
        unit="share",
        digits=2,
        priority=7,
        estimator="optim/update_norm divided by optim/param_norm",
        window="this update",
        bounds=(0, INF),
        healthy=(0, 0.5),
        if_high="Each update changes the parameters by half of their norm. Lower algo.lr or algo.epochs.",
    ),
    Metric(
        "optim/param_norm",
        "Norm of all parameters.",
        digits=2,
        priority=8,
        estimator="L2 norm",
        window="after the update",
        bounds=(0, INF),
    ),
    *map(_size, PARTS),
    # ---- normalizers: part of the training state ------------------------------------------------
    Metric(
        "normalize/obs_count",
        "Number of observations in the running mean and standard deviation.",
        digits=0,
        priority=9,
        window="since the run began, over all attempts",
        bounds=(0, INF),
    ),
    Metric(
        "normalize/reward_scale",
        "Divisor of the rewards: the running standard deviation of the discounted return.",
        priority=7,
        window="since the run began, over all attempts",
        bounds=(0, INF),
    ),
    Metric(
        "normalize/value_mean",
        "Running mean of the value targets (PopArt).",
        priority=9,
        window="running",
        no_bounds_reason="targets are bootstrapped from predictions, which may be wrong by any amount",
    ),
    Metric(
        "normalize/value_std",
        "Running standard deviation of the value targets (PopArt).",
        priority=9,
        window="running",
        bounds=(0, INF),
    ),
)
