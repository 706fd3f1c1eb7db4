"""All health checks of a run, grouped by topic."""

from __future__ import annotations

from gymnast.metrics.checks import critic, experience, hosts, network, policy, run_progress
from gymnast.metrics.checks.check import Remedy
from gymnast.metrics.run_history import RunHistory

CHECKS = {
    check.id: check
    for part in (policy, critic, experience, run_progress, hosts)
    for check in part.CHECKS
}
"""Alert id -> check."""
REMEDIES = {
    id: remedy for part in (policy, critic, network) for id, remedy in part.REMEDIES.items()
}
"""Alert id -> remedy, for alerts that the healthy range of a metric raises."""
KEYS = frozenset(
    {key for check in CHECKS.values() for key in check.required_keys}
    | {"hyper/lr", "episode/return", "eval:episode/return", "policy/kl"}
)
"""Keys of rows whose history the checks need."""


def remedy_for(id: str, history: RunHistory) -> Remedy | None:
    """Returns the remedy for an alert, from the metrics and settings of `history`. None if there is only the
    general advice of the metric. `id`: without the scope of a role."""
    check, remedy = CHECKS.get(id), REMEDIES.get(id)
    if check is not None:
        return check.remedy(history) if history.has(*check.required_keys) else None
    return None if remedy is None else remedy(history)
