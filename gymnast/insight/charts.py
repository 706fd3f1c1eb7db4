"""The charts of a run, and the family of charts that a metric belongs to.

`chart_data.py` fills them from the rows of a run; reports draw them, and `api.charts` returns them.
gymnast/guide/reading-charts.md has a section per family: how healthy and unhealthy curves look, and what to
try.
"""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.insight.chart import Kind
from gymnast.metrics.specs import split_key

PAGE = "gymnast/guide/reading-charts.md"
FAMILIES = {
    "score": "Score",
    "matches": "Matches",
    "actions": "Actions",
    "entropy": "Entropy",
    "kl": "KL",
    "losses": "Losses",
    "gradients": "Gradients",
    "value": "Value",
    "dead-units": "Dead units",
    "experience": "Experience",
    "schedules": "Schedules",
    "timing": "Timing",
}
"""Anchor on the page -> heading, in the order of every view."""


@dataclass(frozen=True)
class Chart:
    name: str
    family: str
    title: str
    keys: tuple[str, ...]
    """Metrics in any scope except `eval`, which must be given: `eval:episode/return`. A `*` at the end
    matches any suffix."""
    fallback_keys: tuple[str, ...] = ()
    """Metrics to draw if the run has none of `keys`."""
    kind: Kind = "line"
    """Stacked series are drawn as shares of the sum of their absolute values; too many of them become a heat
    map."""
    log: bool = False
    """Whether the y axis is logarithmic, if all values are above 0."""
    scale_each: bool = False
    """Whether the series have different units: each is scaled by its largest absolute value, and constant
    series are omitted."""
    show_bounds: bool = False
    """Whether the y axis covers the bounds of the first metric, where they are finite."""
    tick_metric: str = ""
    """A metric that is 1 in rows to be marked with a tick."""
    tick_label: str = ""
    """Label of the ticks."""


CHARTS = (
    Chart("score", "score", "Return per episode", ("eval:episode/return", "episode/return")),
    Chart("length", "score", "Steps per episode", ("eval:episode/length", "episode/length")),
    Chart(
        "wins",
        "matches",
        "Matches won",
        ("league/win_rate", "league/past_win_rate"),
        show_bounds=True,
    ),
    Chart("duration", "matches", "Steps per match", ("match/duration",)),
    Chart("rung", "matches", "Opponent on the ladder", ("league/rung",)),
    Chart("actions", "actions", "Actions taken", ("rollout/action_share.*",), kind="stacked"),
    Chart("amounts", "actions", "Mean of each action dimension", ("rollout/action_mean.*",)),
    Chart("entropy", "entropy", "Entropy of the policy", ("policy/entropy",), show_bounds=True),
    Chart(
        "certainty",
        "entropy",
        "Certainty of the policy",
        ("policy/entropy_share", "policy/prob_max_mean", "policy/prob_min_mean"),
        show_bounds=True,
    ),
    Chart("log-std", "entropy", "Log standard deviation of actions", ("policy/log_std",)),
    Chart(
        "outputs",
        "entropy",
        "Outputs of the policy's last layer",
        ("network/output_mean", "network/output_std", "network/logit_range"),
    ),
    Chart(
        "kl",
        "kl",
        "KL divergence of an update",
        ("policy/kl",),
        tick_metric="optim/kl_stop",
        tick_label="algo.target_kl stopped the update",
    ),
    Chart("clip", "kl", "Samples outside the clip range", ("policy/clip_fraction",)),
    Chart(
        "losses",
        "losses",
        "Terms of the loss",
        ("loss/policy", "loss/value", "loss/entropy", "loss/kl"),
        fallback_keys=("policy/loss", "value/loss"),
    ),
    Chart(
        "loss-shares",
        "losses",
        "Share of each term in the loss",
        ("loss/policy", "loss/value", "loss/entropy", "loss/kl"),
        kind="stacked",
    ),
    Chart(
        "gradients",
        "gradients",
        "Gradient norms of actor and critic",
        (
            "optim/grad_norm",
            "optim/grad_norm_actor",
            "optim/grad_norm_critic",
            "optim/grad_norm_shared",
        ),
        log=True,
    ),
    Chart("explained", "value", "Explained variance of the critic", ("value/explained_variance",)),
    Chart(
        "values",
        "value",
        "Predicted values and their targets",
        ("value/mean", "value/target_mean"),
    ),
    Chart(
        "dead-units",
        "dead-units",
        "Dead and saturated units",
        (
            "network/dead_units",
            "network/dead_units_actor",
            "network/dead_units_critic",
            "network/saturated_units",
        ),
        show_bounds=True,
    ),
    Chart("observations", "experience", "Observations", ("rollout/obs_mean", "rollout/obs_std")),
    Chart(
        "effect",
        "experience",
        "Effect of actions, agreement of rewards",
        ("rollout/action_effect", "rollout/reward_agreement"),
    ),
    Chart("schedules", "schedules", "Scheduled hyperparameters", ("hyper/*",), scale_each=True),
    Chart(
        "timing",
        "timing",
        "Wall time by activity",
        (
            "time/env",
            "time/inference",
            "time/update",
            "time/evaluate_wait",
            "time/checkpoint",
            "time/rest",
        ),
        kind="stacked",
    ),
    Chart("speed", "timing", "Env steps per second", ("speed/env_steps",)),
    Chart("memory", "timing", "Memory of the process", ("system/memory", "system/memory_now")),
)
"""All charts, in the order of every view."""

METRIC_FAMILIES = {
    "progress": "timing",
    "hosts": "timing",
    "episode": "score",
    "eval": "score",
    "env": "score",
    "match": "matches",
    "league": "matches",
    "rollout": "experience",
    "rollout/action_at_limit": "actions",
    "rollout/action_mean": "actions",
    "rollout/action_offset": "actions",
    "rollout/action_share": "actions",
    "rollout/action_spread": "actions",
    "rollout/action_std": "actions",
    "rollout/neg_logprob": "entropy",
    "shaping": "experience",
    "policy": "kl",
    "policy/entropy": "entropy",
    "policy/entropy_share": "entropy",
    "policy/log_std": "entropy",
    "policy/loss": "losses",
    "policy/prob_max_mean": "entropy",
    "policy/prob_min_mean": "entropy",
    "value": "value",
    "value/loss": "losses",
    "advantage": "value",
    "advantage/std": "experience",
    "loss": "losses",
    "network": "dead-units",
    "network/logit_range": "entropy",
    "network/output_mean": "entropy",
    "network/output_std": "entropy",
    "optim": "gradients",
    "optim/epochs": "kl",
    "optim/kl_stop": "kl",
    "optim/rollbacks": "kl",
    "hyper": "schedules",
    "normalize": "experience",
    "clock": "timing",
    "speed": "timing",
    "time": "timing",
    "system": "timing",
}
"""Section of metrics, or a single metric -> the family of charts that explains it."""


def chart_family(key: str) -> str:
    """Returns the family of charts for the key of a row or of an alert."""
    scopes, name = split_key(key)
    if scopes[:1] == ("eval",):
        return METRIC_FAMILIES["eval"]
    # The most specific entry counts: the metric without its index, then its section.
    without_index = name.partition(".")[0]
    return (
        METRIC_FAMILIES.get(without_index) or METRIC_FAMILIES.get(name.partition("/")[0]) or "score"
    )


def docs_section(key: str) -> str:
    """Returns the section that explains a key: `gymnast/guide/reading-charts.md#kl`."""
    return f"{PAGE}#{chart_family(key)}"
