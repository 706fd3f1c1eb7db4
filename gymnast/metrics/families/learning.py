"""Metrics of an update: the policy, the critic and the advantages."""

from __future__ import annotations

from gymnast.metrics import bounds
from gymnast.metrics.families.network import SAMPLED
from gymnast.metrics.metric import INF, Metric

MINIBATCHES = "the minibatches of this update"
AFTER_UPDATE = "the whole rollout, after the update"
REWARD_SCALE = "depends on the scale of the rewards and on the critic"

METRICS = (
    # ---- policy ---------------------------------------------------------------------------------
    Metric(
        "policy/loss",
        "Policy loss: the negative surrogate objective.",
        digits=4,
        priority=6,
        window=MINIBATCHES,
        no_bounds_reason="its sign and size follow the advantages",
        in_table=True,
    ),
    Metric(
        "policy/entropy",
        "Entropy of the policy; ln n when all n actions are equally likely.",
        unit="nats",
        priority=2,
        estimator="exact, of the action distribution",
        window=AFTER_UPDATE,
        bounds=bounds.entropy,
        no_bounds_reason="unbounded for Box actions, whose differential entropy may be any number",
        in_table=True,
    ),
    Metric(
        "policy/entropy_share",
        "Entropy as a share of its maximum: 100% when all actions that the mask allows are equally likely, "
        "0% when one is certain. Not for Box actions.",
        unit="share",
        digits=1,
        priority=7,
        estimator="policy/entropy divided by ln n (summed over the elements of a MultiDiscrete action)",
        window=AFTER_UPDATE,
        bounds=(0, 1),
        healthy=(0.02, 1),
        skipped_phases=frozenset({"solved"}),
        if_low="The policy hardly explores. Raise algo.entropy_coef, or lower algo.lr.",
    ),
    Metric(
        "policy/memory_effect",
        "How far the policy's decisions depend on its memory (policy.memory): KL divergence between the "
        "action distribution and the one with an empty memory.",
        unit="nats",
        digits=4,
        priority=7,
        estimator="exact, mean over steps after the first of an episode",
        window=SAMPLED,
        bounds=(0, INF),
    ),
    Metric(
        "policy/kl",
        "KL divergence between the policy that collected the rollout and the policy after the update.",
        unit="nats",
        digits=4,
        priority=2,
        estimator="exact, from the stored distribution parameters; k3 where the distribution has no closed "
        "form; never k1, which may be negative",
        window=AFTER_UPDATE,
        bounds=(0, INF),
        healthy=(-INF, 0.05),
        if_high="Updates are too large. Lower algo.lr or algo.epochs, or set algo.target_kl.",
        in_table=True,
    ),
    Metric(
        "policy/approx_kl",
        "policy/kl, estimated from the sampled actions, as other libraries report it under this name. "
        "policy/kl is exact.",
        unit="nats",
        digits=4,
        priority=8,
        # http://joschu.net/blog/kl-approx.html: k1 has a higher variance and may be negative
        estimator="k3: mean of ratio - 1 - ln ratio, never negative",
        window=AFTER_UPDATE,
        bounds=(0, INF),
    ),
    Metric(
        "policy/clip_fraction",
        "Share of samples whose probability ratio is outside the clip range.",
        unit="share",
        digits=1,
        priority=3,
        window=AFTER_UPDATE,
        bounds=(0, 1),
        healthy=(0, 0.5),
        if_high="Updates are too large. Lower algo.lr or algo.epochs, or use larger batches.",
        in_table=True,
    ),
    Metric(
        "policy/ratio_mean",
        "Mean probability ratio of the updated policy to the policy that collected the rollout; its "
        "expected value is 1.",
        priority=7,
        window=AFTER_UPDATE,
        bounds=(0, INF),
        healthy=(0.8, 1.25),
        if_low="The policy moved too far from the collected data. Lower algo.lr or algo.epochs.",
        if_high="The policy moved too far from the collected data. Lower algo.lr or algo.epochs.",
    ),
    Metric(
        "policy/ratio_max",
        "Largest probability ratio of any sample.",
        priority=7,
        window=AFTER_UPDATE,
        bounds=(0, INF),
        healthy=(0, 50),
        if_high="A few samples dominate the update. Lower algo.lr or algo.epochs, or set algo.target_kl.",
    ),
    Metric(
        "policy/prob_max_mean",
        "Mean probability of the most likely action. Not for Box actions.",
        unit="share",
        digits=1,
        priority=7,
        estimator="mean over steps and over the elements of the action",
        window=SAMPLED,
        bounds=bounds.max_probability,
    ),
    Metric(
        "policy/prob_min_mean",
        "Mean probability of the least likely action; 0 where a mask forbids one. Not for Box actions.",
        unit="share",
        digits=1,
        priority=8,
        estimator="mean over steps and over the elements of the action",
        window=SAMPLED,
        bounds=bounds.min_probability,
    ),
    Metric(
        "policy/log_std",
        "Mean log standard deviation of a Gaussian policy. Box actions only.",
        priority=5,
        window="after the update",
        no_bounds_reason="it is a free parameter of the network",
        healthy=(-5, 2),
        if_low="The policy has stopped exploring. Raise algo.entropy_coef or policy.log_std.",
        if_high="Actions are mostly noise. Lower algo.entropy_coef or policy.log_std.",
        in_table=True,
    ),
    Metric(
        "policy/kl_penalty",
        "KL divergence from the policy that collected the rollout, before algo.kl_coef; 0 if that is 0.",
        digits=4,
        priority=8,
        window=MINIBATCHES,
        bounds=(0, INF),
    ),
    # ---- value ----------------------------------------------------------------------------------
    Metric(
        "value/loss",
        "Value loss: error of the critic against its targets, before algo.value_coef.",
        digits=4,
        better="lower",
        priority=4,
        estimator="mean squared error or Huber loss, depending on algo.value_loss",
        window=MINIBATCHES,
        bounds=(0, INF),
        in_table=True,
    ),
    Metric(
        "value/explained_variance",
        "Share of the variance of the value targets that the critic explains: 1 is perfect, 0 is no better "
        "than predicting their mean.",
        better="higher",
        priority=2,
        estimator="1 - Var(target - value) / Var(target), with the values predicted during collection; for "
        "constant targets, 1 if the errors are constant too, else 0",
        bounds=(-INF, 1),
        healthy=(-0.5, 1),
        # A new critic explains nothing yet, and the returns of a solved task hardly vary.
        skipped_phases=frozenset({"warm-up", "solved"}),
        if_low="The critic predicts poorly. Check the reward scale (normalize.reward: running), raise "
        "algo.value_coef, or lower algo.gamma.",
        in_table=True,
    ),
    Metric(
        "value/mean",
        "Mean value predicted during collection.",
        priority=7,
        no_bounds_reason="predictions may be wrong by any amount",
    ),
    Metric(
        "value/std",
        "Standard deviation of the values predicted during collection.",
        priority=8,
        bounds=(0, INF),
    ),
    Metric(
        "value/target_mean",
        "Mean value target: advantage plus predicted value.",
        priority=7,
        no_bounds_reason="targets are bootstrapped from predictions, which may be wrong by any amount",
    ),
    Metric(
        "value/target_std", "Standard deviation of the value targets.", priority=8, bounds=(0, INF)
    ),
    Metric(
        "value/bias",
        "Mean difference between the value targets and the predicted values.",
        priority=8,
        estimator="mean of target - value, with the values predicted during collection",
        no_bounds_reason=REWARD_SCALE,
    ),
    Metric(
        "value/rmse_share",
        "Error of the critic relative to the variation of its targets; 1 is no better than predicting their "
        "mean.",
        digits=2,
        better="lower",
        priority=8,
        estimator="root mean square of target - value, divided by the standard deviation of the targets; "
        "for constant targets, 0 if they are predicted exactly, else 1",
        bounds=(0, INF),
    ),
    Metric(
        "value/clip_fraction",
        "Share of samples whose predicted value moved by more than algo.value_clip.",
        unit="share",
        digits=1,
        priority=8,
        window=MINIBATCHES,
        bounds=(0, 1),
    ),
    # ---- advantage: before normalization --------------------------------------------------------
    Metric(
        "advantage/mean",
        "Mean advantage, before normalization; near 0 once the critic is accurate.",
        priority=7,
        no_bounds_reason=REWARD_SCALE,
    ),
    Metric(
        "advantage/std",
        "Standard deviation of the advantage, before normalization.",
        priority=6,
        bounds=(0, INF),
        in_table=True,
    ),
    Metric(
        "advantage/min",
        "Lowest advantage, before normalization.",
        priority=8,
        no_bounds_reason=REWARD_SCALE,
    ),
    Metric(
        "advantage/max",
        "Highest advantage, before normalization.",
        priority=8,
        no_bounds_reason=REWARD_SCALE,
    ),
)
