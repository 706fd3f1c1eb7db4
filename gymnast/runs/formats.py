"""Reasons for rejecting stored data whose format version is not the one that is read here."""

from __future__ import annotations

RENAMED = "metrics and event kinds were renamed since"
"""The reason for rejecting format 1 of runs, checkpoints and metric records."""


def version_error(kind: str, found: object, known: int) -> tuple[str, str]:
    """Returns the problem and the fix, as sentences, for a `kind` (run, checkpoint) of format version
    `found`, where this gymnast reads `known`."""
    if isinstance(found, int) and found < known:
        problem = f"{kind} format {found} is no longer read (this is {known}): {RENAMED}"
        return problem, "use the gymnast that wrote it, or train again"
    return f"{kind} format {found} is not known here (this is {known})", "update gymnast"
