"""Remedies for dead and saturated hidden units."""

from __future__ import annotations

from gymnast.metrics.checks.check import Remedy, cap_setting, scale_setting
from gymnast.metrics.run_history import RunHistory

SPIKE = 10.0
"""A peak learning rate this many times the current one is blamed for dead units."""


def revive_dead_units(history: RunHistory) -> Remedy:
    """Returns the remedy for dead units. If the learning rate once was more than SPIKE times the latest one,
    `algo.lr` is capped at the latest one; otherwise it is divided by 10, and rectifiers are replaced by
    tanh."""
    rate = history.stats.get("hyper/lr")
    # A rate that has fallen since does no harm now; its early peak would do so again in the next run.
    if rate is not None and rate.peak > SPIKE * rate.recent[-1] > 0:
        why = "Units died during the first updates, when the learning rate was much larger."
        return Remedy(why, cap_setting(history, "algo.lr", rate.recent[-1]))
    changes = scale_setting(history, "algo.lr", 0.1)
    if history.setting("policy.activation") in ("relu", "silu", "gelu", "elu"):
        changes["policy.activation"] = "tanh"
    return Remedy("Dead units do not learn, since they get no gradient.", changes)


def reduce_saturation(history: RunHistory) -> Remedy:
    if history.setting("normalize.obs") is None:
        return Remedy("The inputs are too large for tanh.", {"normalize.obs": "running"})
    return Remedy(
        "The weights have grown too large for tanh.", scale_setting(history, "algo.lr", 0.3)
    )


REMEDIES = {
    "network/dead_units:high": revive_dead_units,
    "network/saturated_units:high": reduce_saturation,
}
