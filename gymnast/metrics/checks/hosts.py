"""Checks of the hosts that collect for a run."""

from __future__ import annotations

from gymnast.metrics.checks.check import Check, Remedy, rounded_text
from gymnast.metrics.run_history import RunHistory

SLOWEST, MEDIAN = "hosts/slowest", "hosts/median"
SLOW = 2.0
"""How many times as long as the median host the slowest one may take: the others wait for it."""
MIN_SECONDS = 0.05
"""Time of the slowest host below which waiting for it costs nothing worth mentioning."""


def _waits_for_one(history: RunHistory) -> str | None:
    """Returns the problem if all hosts wait for a slow one, else None."""
    slowest, median = history.recent_mean(SLOWEST), history.recent_mean(MEDIAN)
    if slowest < MIN_SECONDS or slowest <= SLOW * median:
        return None
    return (
        f"the slowest host takes {rounded_text(slowest)} s for its part of a rollout, the median host "
        f"{rounded_text(median)} s"
    )


def _look_at_it(_: RunHistory) -> Remedy:
    return Remedy(
        "All hosts wait for the slowest one. The event `host slow` names it: see what else runs there, or "
        "leave it out (collect.hosts)."
    )


CHECKS = (Check(f"{SLOWEST}:slow", (SLOWEST, MEDIAN), _waits_for_one, _look_at_it, per_role=False),)
