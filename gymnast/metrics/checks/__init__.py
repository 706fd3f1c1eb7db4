"""All health checks of a run, grouped by topic."""

from __future__ import annotations

from gymnast.metrics.checks import critic, experience, hosts, network, policy, run_progress

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
