"""Matches as they happened, many in one file: who played, what everybody did and got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.errors import RunError
from gymnast.runs import durable
from gymnast.runs.tensors import header_of, pack, unpack

VERSION = 1


@dataclass(frozen=True, eq=False)
class MatchTrace:
    """One recorded match of T steps."""

    seed: int
    actions: dict[str, np.ndarray]
    """Role -> [T, seats, ...] as given to the environment."""
    rewards: dict[str, np.ndarray]
    """Role -> [T, seats]."""
    cast: dict[str, str]
    """Role -> who played it."""
    outcome: str
    """Empty where nobody told it."""
    version: int
    """Env steps the policies had learned from."""
    numbers: dict[str, float]

    def __len__(self) -> int:
        return len(next(iter(self.actions.values())))


def write_matches(path: Path, matches: Sequence[MatchTrace], meta: Mapping[str, Any]) -> None:
    """In a new or replaced file, atomically."""
    arrays: dict[str, np.ndarray] = {}
    told: list[dict[str, Any]] = []
    for i, match in enumerate(matches):
        for role in match.actions:
            arrays[f"{i}/action/{role}"] = match.actions[role]
            arrays[f"{i}/reward/{role}"] = match.rewards[role]
        plain = ("seed", "cast", "outcome", "version", "numbers")
        told.append({name: getattr(match, name) for name in plain})
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"match_version": VERSION, "meta": dict(meta), "matches": told}
    durable.replace(path, pack(arrays, head))


def read_matches(path: Path) -> list[MatchTrace]:
    try:
        content = path.read_bytes()
        header = header_of(content)
        if header["match_version"] != VERSION:
            known = f"match format {header['match_version']} is not known here (this is {VERSION})"
            raise RunError(known, at=str(path), fix="update gymnast")
        arrays = unpack(content)
    except OSError as error:
        raise RunError(f"matches cannot be read: {error.strerror}", at=str(path)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError("is not a file of matches, or damaged", at=str(path)) from error
    found: list[MatchTrace] = []
    for i, told in enumerate(header["matches"]):
        roles = list(told["cast"])
        actions = {role: arrays[f"{i}/action/{role}"] for role in roles}
        rewards = {role: arrays[f"{i}/reward/{role}"] for role in roles}
        found.append(MatchTrace(actions=actions, rewards=rewards, **told))
    return found
