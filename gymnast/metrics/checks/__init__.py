"""Every check of a run's health, by what it is about."""

from __future__ import annotations

from gymnast.metrics.checks import course, critic, experience, network, policy

CHECKS = {check.id: check for part in (policy, critic, experience, course) for check in part.CHECKS}
"""By alert id."""
REMEDIES = {
    id: remedy for part in (policy, critic, network) for id, remedy in part.REMEDIES.items()
}
"""By alert id, of those that the declared range of a metric raises."""
KEYS = frozenset(
    {key for check in CHECKS.values() for key in check.needs}
    | {"hyper/lr", "episode/return", "eval:episode/return", "policy/kl"}
)
"""What they remember."""
