"""What an update did to policy and critic."""

from __future__ import annotations

from gymnast.metrics import bounds
from gymnast.metrics.families.network import SAMPLED
from gymnast.metrics.metric import INF, Metric

MINIBATCHES = "the minibatches of this update"
AFTERWARDS = "the whole rollout, after the update"
REWARD_SCALE = "as large as rewards and critic make it"

METRICS = (
    # ---- policy ---------------------------------------------------------------------------------
    Metric(
        "policy/loss",
        "What the policy update minimises: the negative surrogate objective.",
        digits=4,
        priority=6,
        window=MINIBATCHES,
        no_bounds_reason="its sign and size follow the advantages",
        in_table=True,
    ),
    Metric(
        "policy/entropy",
        "How undecided the policy is; ln n when all n actions are equally likely.",
        unit="nats",
        priority=2,
        estimator="exact, of the action distribution",
        window=AFTERWARDS,
        bounds=bounds.entropy,
        no_bounds_reason="open for Box actions: a density's entropy may be any number",
        healthy=bounds.undecided,
        if_low="The policy hardly explores. If unsolved, raise algo.entropy_coef or lower algo.lr.",
        in_table=True,
    ),
    Metric(
        "policy/entropy_share",
        "Entropy as a share of the highest: 100% when all actions are equally likely, 0% when one is "
        "certain. Not for Box actions.",
        unit="share",
        digits=1,
        priority=7,
        estimator="policy/entropy over ln n, summed over elements",
        window=AFTERWARDS,
        bounds=(0, 1),
    ),
    Metric(
        "policy/kl",
        "How far the update moved the policy: KL divergence of the new from the collecting one.",
        unit="nats",
        digits=4,
        priority=2,
        estimator="exact, from the stored distribution parameters; k3 where a head has no closed "
        "form; never k1, which may be negative",
        window=AFTERWARDS,
        bounds=(0, INF),
        healthy=(0, 0.05),
        if_high="Updates are too large. Lower algo.lr or algo.epochs, or set algo.target_kl.",
        in_table=True,
    ),
    Metric(
        "policy/approx_kl",
        "The same as policy/kl, estimated from the actions taken: what other tools report under this "
        "name. policy/kl is the exact one.",
        unit="nats",
        digits=4,
        priority=8,
        estimator="k3: mean of ratio - 1 - ln ratio, never negative",
        window=AFTERWARDS,
        bounds=(0, INF),
    ),
    Metric(
        "policy/clip_fraction",
        "Share of samples whose ratio left the clip range.",
        unit="share",
        digits=1,
        priority=3,
        window=AFTERWARDS,
        bounds=(0, 1),
        healthy=(0, 0.4),
        if_high="Updates are too large. Lower algo.lr or algo.epochs, or use larger batches.",
        in_table=True,
    ),
    Metric(
        "policy/ratio_mean",
        "Mean probability ratio of the new to the collecting policy; near 1 by definition.",
        priority=7,
        window=AFTERWARDS,
        bounds=(0, INF),
        healthy=(0.8, 1.25),
        if_low="The policy left the data behind. Lower algo.lr or algo.epochs.",
        if_high="The policy left the data behind. Lower algo.lr or algo.epochs.",
    ),
    Metric(
        "policy/ratio_max",
        "Largest probability ratio of any sample.",
        priority=7,
        window=AFTERWARDS,
        bounds=(0, INF),
        healthy=(0, 50),
        if_high="A few samples dominate. Lower algo.lr or algo.epochs, or set algo.target_kl.",
    ),
    Metric(
        "policy/prob_max_mean",
        "Mean probability of the likeliest action. Not for Box actions.",
        unit="share",
        digits=1,
        priority=7,
        estimator="mean over steps and elements",
        window=SAMPLED,
        bounds=bounds.likeliest,
    ),
    Metric(
        "policy/prob_min_mean",
        "Mean probability of the unlikeliest action; 0 where a mask rules one out. Not for Box actions.",
        unit="share",
        digits=1,
        priority=8,
        estimator="mean over steps and elements",
        window=SAMPLED,
        bounds=bounds.unlikeliest,
    ),
    Metric(
        "policy/log_std",
        "Mean log standard deviation of a Gaussian policy; Box actions only.",
        priority=5,
        window="after the update",
        no_bounds_reason="a free parameter of the network",
        healthy=(-5, 2),
        if_low="The policy has stopped exploring. Raise algo.entropy_coef or policy.log_std.",
        if_high="Actions are mostly noise. Lower algo.entropy_coef or policy.log_std.",
        in_table=True,
    ),
    Metric(
        "policy/kl_penalty",
        "KL divergence from the collecting policy that algo.kl_coef weighs; 0 where that is 0.",
        digits=4,
        priority=8,
        window=MINIBATCHES,
        bounds=(0, INF),
    ),
    # ---- value ----------------------------------------------------------------------------------
    Metric(
        "value/loss",
        "Error of the critic against its targets, before algo.value_coef.",
        digits=4,
        better="lower",
        priority=4,
        estimator="mean squared or Huber error, as algo.value_loss says",
        window=MINIBATCHES,
        bounds=(0, INF),
        in_table=True,
    ),
    Metric(
        "value/explained_variance",
        "Part of the targets' variance that the critic predicts. 1: all. 0: no better than a mean.",
        better="higher",
        priority=2,
        estimator="1 - Var(target - value) / Var(target), with the collecting policy's values; "
        "for constant targets 1 where the errors are constant too, else 0",
        bounds=(-INF, 1),
        healthy=(-0.5, 1),
        if_low="The critic misleads. Check the reward scale (normalize.reward: running), raise "
        "algo.value_coef, or lower algo.gamma.",
        in_table=True,
    ),
    Metric(
        "value/mean",
        "Mean value predicted while collecting.",
        priority=7,
        no_bounds_reason="a prediction may be wrong by any amount",
    ),
    Metric(
        "value/std",
        "Spread of the values predicted while collecting.",
        priority=8,
        bounds=(0, INF),
    ),
    Metric(
        "value/target_mean",
        "Mean target of the critic: advantage plus predicted value.",
        priority=7,
        no_bounds_reason="bootstrapped from predictions, which may be wrong by any amount",
    ),
    Metric("value/target_std", "Spread of the critic's targets.", priority=8, bounds=(0, INF)),
    Metric(
        "value/bias",
        "How far the critic's targets are above its values on average.",
        priority=8,
        estimator="mean of target - value, with the collecting policy's values",
        no_bounds_reason=REWARD_SCALE,
    ),
    Metric(
        "value/rmse_share",
        "Error of the critic relative to how much its targets vary; 1 is no better than their mean.",
        digits=2,
        better="lower",
        priority=8,
        estimator="root mean square of target - value, over the targets' standard deviation; for "
        "constant targets 0 where they are met, else 1",
        bounds=(0, INF),
    ),
    Metric(
        "value/clip_fraction",
        "Share of samples whose value moved past algo.value_clip.",
        unit="share",
        digits=1,
        priority=8,
        window=MINIBATCHES,
        bounds=(0, 1),
    ),
    # ---- advantage: before normalisation --------------------------------------------------------
    Metric(
        "advantage/mean",
        "Mean advantage, before normalisation; near 0 once the critic is right.",
        priority=7,
        no_bounds_reason=REWARD_SCALE,
    ),
    Metric(
        "advantage/std",
        "Spread of the advantage, before normalisation.",
        priority=6,
        bounds=(0, INF),
        in_table=True,
    ),
    Metric(
        "advantage/min",
        "Lowest advantage, before normalisation.",
        priority=8,
        no_bounds_reason=REWARD_SCALE,
    ),
    Metric(
        "advantage/max",
        "Highest advantage, before normalisation.",
        priority=8,
        no_bounds_reason=REWARD_SCALE,
    ),
)
