"""Versions in the names of environments: `CartPole-v1`, `simple_speaker_listener_v4`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_VERSIONED = re.compile(r"(?P<name>.+)[-_]v(?P<version>\d+)")


def without_version(name: str) -> str:
    """Returns `CartPole` for `CartPole-v1`; a name without a version is returned as it is."""
    match = _VERSIONED.fullmatch(name)
    return match["name"] if match else name


def version_of(name: str) -> int | None:
    """Returns 1 for `CartPole-v1`, and None for a name without a version."""
    match = _VERSIONED.fullmatch(name)
    return int(match["version"]) if match else None


def highest_version(name: str, known: Iterable[str]) -> str | None:
    """Returns the known environment with the same name as `name` and the highest version, or None."""
    wanted = without_version(name)
    versions = {
        int(match["version"]): match[0]
        for match in map(_VERSIONED.fullmatch, known)
        if match is not None and match["name"] == wanted
    }
    return versions[max(versions)] if versions else None
