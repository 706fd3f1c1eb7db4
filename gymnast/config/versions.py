"""Versions in the names of environments: `CartPole-v1`, `simple_speaker_listener_v4`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_VERSIONED = re.compile(r"(?P<name>.+)[-_]v(?P<version>\d+)")


def without_version(name: str) -> str:
    found = _VERSIONED.fullmatch(name)
    return found["name"] if found else name


def version_of(name: str) -> int | None:
    found = _VERSIONED.fullmatch(name)
    return int(found["version"]) if found else None


def highest_version(name: str, known: Iterable[str]) -> str | None:
    """Returns the known environment with the same name as `name` and the highest version, or None."""
    wanted = without_version(name)
    found = {
        int(match["version"]): match[0]
        for match in map(_VERSIONED.fullmatch, known)
        if match is not None and match["name"] == wanted
    }
    return found[max(found)] if found else None
