"""The network: units that no input moves any more."""

from __future__ import annotations

from gymnast.metrics.checks.check import Remedy, capped, scaled
from gymnast.metrics.seen import RunHistory

SPIKE = 10.0
"""Times the rate of now: units died of it."""


def revive(seen: RunHistory) -> Remedy:
    rate = seen.tracks.get("hyper/lr")
    if rate is not None and rate.peak > SPIKE * rate.recent[-1] > 0:
        why = "Units died of the first, large steps."
        return Remedy(why, capped(seen, "algo.lr", rate.recent[-1]))
    changes = scaled(seen, "algo.lr", 0.1)
    if seen.setting("policy.activation") in ("relu", "silu", "gelu", "elu"):
        changes["policy.activation"] = "tanh"
    return Remedy("Units that no observation moves learn nothing.", changes)


def unsaturate(seen: RunHistory) -> Remedy:
    if seen.setting("normalize.obs") is None:
        return Remedy("Inputs are too large for tanh.", {"normalize.obs": "running"})
    return Remedy("Weights have grown too large for tanh.", scaled(seen, "algo.lr", 0.3))


REMEDIES = {
    "network/dead_units:high": revive,
    "network/saturated_units:high": unsaturate,
}
