"""Which units of the network still work, and how its outputs are spread."""

from __future__ import annotations

from gymnast.metrics.metric import INF, Metric

SAMPLE, DEAR_SAMPLE = 64, 32
"""Steps of a rollout that are shown to the network at most; where a row is much work, the second."""
SAMPLED = (
    f"up to {SAMPLE} steps of the rollout, evenly spaced ({DEAR_SAMPLE} of images or for a "
    "module of your own), after the update; of every rollout at first, of every fourth after 64"
)


def _dead(suffix: str = "", whose: str = "", *, priority: int = 7) -> Metric:
    return Metric(
        f"network/dead_units{suffix}",
        f"Share of the hidden units{whose} that are 0 (ReLU), above -0.01 and not positive (SiLU, GELU) or "
        "below -0.99 (ELU) for every step of a sample; such a unit learns next to nothing from these "
        "steps. Not for tanh.",
        unit="share",
        digits=1,
        better="lower",
        priority=priority,
        estimator="a unit of a convolution is a channel",
        window=SAMPLED,
        bounds=(0, 1),
        healthy=(0, 0.5) if not suffix else (0, 1),
        if_high="Half of the network is lost. Halve algo.lr and begin anew; if it comes back, set "
        "policy.layer_norm=on or policy.activation=tanh."
        if not suffix
        else "",
        in_table=not suffix,
    )


METRICS = (
    _dead(priority=5),
    _dead("_actor", " of the actor's own layers"),
    _dead("_critic", " of the critic's own layers"),
    Metric(
        "network/saturated_units",
        "Share of the outputs of hidden tanh units beyond 0.97 either way, where next to no gradient "
        "passes.",
        unit="share",
        digits=1,
        better="lower",
        priority=6,
        window=SAMPLED,
        bounds=(0, 1),
        healthy=(0, 0.6),
        if_high="Most units pass no gradient. Set normalize.obs=running if inputs are larger than "
        "about 3; otherwise halve algo.lr, or set policy.layer_norm=on.",
    ),
    Metric(
        "network/activation_mean",
        "Mean output of all hidden units.",
        priority=8,
        window=SAMPLED,
        no_bounds_reason="as large as inputs and weights make it; within -1 to 1 for tanh",
    ),
    Metric(
        "network/activation_std",
        "Spread of the outputs of all hidden units.",
        priority=8,
        estimator="standard deviation over units and steps",
        window=SAMPLED,
        bounds=(0, INF),
        healthy=(1e-3, INF),
        if_low="What is seen hardly reaches the hidden layers. Set normalize.obs=running if inputs "
        "are smaller than about 0.1.",
    ),
    Metric(
        "network/output_mean",
        "Mean output of the policy's last layer: logits, means of amounts, or action values.",
        priority=8,
        window=SAMPLED,
        no_bounds_reason="as large as the weights make it",
    ),
    Metric(
        "network/output_std",
        "Spread of the outputs of the policy's last layer.",
        priority=8,
        estimator="standard deviation over outputs and steps",
        window=SAMPLED,
        bounds=(0, INF),
    ),
    Metric(
        "network/logit_range",
        "How far the highest logit is above the lowest; an action that far below the likeliest has a "
        "probability of at most e to the minus this. Not for Box actions and action values.",
        unit="nats",
        digits=2,
        priority=7,
        estimator="mean over steps, before any action mask",
        window=SAMPLED,
        bounds=(0, INF),
        healthy=(0, 40),
        if_high="Some actions are ruled out for good. If unsolved, raise algo.entropy_coef (from 0: "
        "to 0.01; else double it) or halve algo.lr.",
    ),
)
