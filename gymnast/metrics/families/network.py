"""Metrics of the network: dead and saturated hidden units, activations and outputs."""

from __future__ import annotations

from gymnast.metrics.metric import INF, Metric

SAMPLE, EXPENSIVE_SAMPLE = 64, 32
"""Largest number of rollout steps that these metrics are computed on; the second for networks where a
forward pass is expensive."""
SAMPLED = (
    f"up to {SAMPLE} evenly spaced steps of the rollout ({EXPENSIVE_SAMPLE} for images and custom "
    "modules), after the update; for every rollout at first, for every fourth after 64"
)


def _dead(suffix: str = "", whose: str = "", *, priority: int = 7) -> Metric:
    """Declares the metric for the share of dead units, of all hidden units or, with a `suffix` of its name
    (`_actor`), of a part of the network. `whose`: that part in words, after "hidden units". Only the metric
    of all units has a healthy range and is in the live table."""
    return Metric(
        f"network/dead_units{suffix}",
        f"Share of the hidden units{whose} whose output is 0 (ReLU), between -0.01 and 0 (SiLU, GELU) "
        "or below -0.99 (ELU) on every sampled step; such a unit gets almost no gradient. Not for tanh.",
        unit="share",
        digits=1,
        better="lower",
        priority=priority,
        estimator="in a convolutional layer, a unit is a channel",
        window=SAMPLED,
        bounds=(0, 1),
        healthy=(0, 0.5) if not suffix else (0, 1),
        if_high="Half of the network is dead. Lower algo.lr and train again from the start; if that does not "
        "help, set policy.layer_norm=on or policy.activation=tanh."
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
        "Share of hidden tanh outputs with an absolute value above 0.97, where the gradient almost vanishes.",
        unit="share",
        digits=1,
        better="lower",
        priority=6,
        window=SAMPLED,
        bounds=(0, 1),
        healthy=(0, 0.6),
        if_high="Most units pass almost no gradient. Set normalize.obs=running if inputs are larger than "
        "about 3; otherwise lower algo.lr, or set policy.layer_norm=on.",
    ),
    Metric(
        "network/activation_mean",
        "Mean activation over all hidden units.",
        priority=8,
        window=SAMPLED,
        no_bounds_reason="depends on the inputs and weights; between -1 and 1 for tanh",
    ),
    Metric(
        "network/activation_std",
        "Standard deviation of the activations over all hidden units.",
        priority=8,
        estimator="standard deviation over units and steps",
        window=SAMPLED,
        bounds=(0, INF),
        healthy=(1e-3, INF),
        if_low="The observations hardly affect the hidden layers. Set normalize.obs=running if inputs "
        "are smaller than about 0.1.",
    ),
    Metric(
        "network/output_mean",
        "Mean output of the policy's last layer: logits, means of Box actions, or action values (Q).",
        priority=8,
        window=SAMPLED,
        no_bounds_reason="depends on the weights",
    ),
    Metric(
        "network/output_std",
        "Standard deviation of the outputs of the policy's last layer.",
        priority=8,
        estimator="standard deviation over outputs and steps",
        window=SAMPLED,
        bounds=(0, INF),
    ),
    Metric(
        "network/logit_range",
        "Difference between the highest and the lowest logit: the least likely action is exp(-logit_range) "
        "times as likely as the most likely one. Not for Box actions and action values.",
        unit="nats",
        digits=2,
        priority=7,
        estimator="mean over steps, before any action mask",
        window=SAMPLED,
        bounds=(0, INF),
        healthy=(0, 40),
        if_high="Some actions are practically never tried. If the task is not solved, raise "
        "algo.entropy_coef or lower algo.lr.",
    ),
)
