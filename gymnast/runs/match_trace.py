"""Recorded matches, many per file: cast, actions and rewards of every seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np

from gymnast.errors import RunError
from gymnast.runs import durable, files, layout
from gymnast.runs.tensors import pack, read_header, unpack
from gymnast.runs.trace import TraceMeta

VERSION = layout.MATCHES.version


class MatchInfo(TypedDict):
    """The entry of one match in the header of a file."""

    seed: int
    cast: dict[str, str]
    outcome: str
    version: int
    numbers: dict[str, float]
    ended: NotRequired[bool]
    """Missing in older files, whose matches all ended."""


class _Header(TypedDict):
    match_version: int
    meta: TraceMeta
    matches: list[MatchInfo]


@dataclass(frozen=True, eq=False)
class MatchTrace:
    """One recorded match of T steps."""

    seed: int
    actions: dict[str, np.ndarray]
    """Role -> actions as passed to the environment, [T, seats, ...]."""
    rewards: dict[str, np.ndarray]
    """Role -> rewards, [T, seats]."""
    cast: dict[str, str]
    """Role -> the policy or player that had it."""
    outcome: str
    """The outcome that the environment reported; empty if it reported none."""
    version: int
    """Env steps that the policies had been trained for."""
    numbers: dict[str, float]
    ended: bool = True
    """False if it was stopped before its end."""

    def __len__(self) -> int:
        return len(next(iter(self.actions.values())))


def write_matches(path: Path, matches: Sequence[MatchTrace], meta: Mapping[str, object]) -> None:
    """Writes matches to a file, atomically; an existing file is replaced. `meta`: JSON values about all of
    them, such as the kind of evaluation."""
    arrays: dict[str, np.ndarray] = {}
    header_entries: list[MatchInfo] = []
    for i, match in enumerate(matches):
        for role in match.actions:
            arrays[f"{i}/action/{role}"] = match.actions[role]
            arrays[f"{i}/reward/{role}"] = match.rewards[role]
        header_entries.append(
            {
                "seed": match.seed,
                "cast": match.cast,
                "outcome": match.outcome,
                "version": match.version,
                "numbers": match.numbers,
                "ended": match.ended,
            }
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"match_version": VERSION, "meta": dict(meta), "matches": header_entries}
    durable.replace(path, pack(arrays, head))


def read_matches(path: Path) -> list[MatchTrace]:
    """Returns the matches of a file, in the order in which they were written. Raises RunError if it cannot be
    read, is damaged or has another format version."""
    header, arrays = _read(path)
    found: list[MatchTrace] = []
    for i, entry in enumerate(header["matches"]):
        roles = list(entry["cast"])
        actions = {role: arrays[f"{i}/action/{role}"] for role in roles}
        rewards = {role: arrays[f"{i}/reward/{role}"] for role in roles}
        found.append(MatchTrace(actions=actions, rewards=rewards, **entry))
    return found


def read_match_meta(path: Path) -> TraceMeta:
    """Returns the `meta` that was passed to `write_matches`."""
    return _read(path)[0]["meta"]


def _read(path: Path) -> tuple[_Header, dict[str, np.ndarray]]:
    """Returns the header and the arrays of a file of matches; raises RunError as `read_matches`."""
    try:
        content = files.read(path, limit=files.MAX_ARRAYS)
        header: _Header = read_header(content)
        if header["match_version"] != VERSION:
            version = header["match_version"]
            problem = f"unknown match format {version} (this gymnast reads format {VERSION})"
            raise RunError(problem, at=str(path), fix="update gymnast")
        return header, unpack(content)
    except OSError as error:
        raise RunError(f"matches cannot be read: {error.strerror}", at=str(path)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError("is not a match file, or it is damaged", at=str(path)) from error
