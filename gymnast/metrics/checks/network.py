"""Remedies for dead and saturated hidden units."""

from __future__ import annotations

from gymnast.metrics.checks.check import Remedy, capped, scaled
from gymnast.metrics.seen import RunHistory

SPIKE = 10.0
"""A peak learning rate this many times the current one is blamed for dead units."""


def revive(history: RunHistory) -> Remedy:
    rate = history.tracks.get("hyper/lr")
    if rate is not None and rate.peak > SPIKE * rate.recent[-1] > 0:
        why = "Units died during the first updates, when the learning rate was much larger."
        return Remedy(why, capped(history, "algo.lr", rate.recent[-1]))
    changes = scaled(history, "algo.lr", 0.1)
    if history.setting("policy.activation") in ("relu", "silu", "gelu", "elu"):
        changes["policy.activation"] = "tanh"
    return Remedy("Dead units do not learn, since they get no gradient.", changes)


def unsaturate(history: RunHistory) -> Remedy:
    if history.setting("normalize.obs") is None:
        return Remedy("The inputs are too large for tanh.", {"normalize.obs": "running"})
    return Remedy("The weights have grown too large for tanh.", scaled(history, "algo.lr", 0.3))


REMEDIES = {
    "network/dead_units:high": revive,
    "network/saturated_units:high": unsaturate,
}
