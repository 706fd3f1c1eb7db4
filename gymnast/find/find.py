"""Finds presets, environments, metrics, settings, sections of the docs and runs by words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gymnast.find.sources import KINDS, Entry, Kind, entries
from gymnast.text.search import rank


@dataclass(frozen=True)
class Hit:
    """Something that was found."""

    kind: Kind
    name: str
    """Its name in other functions and commands; for documentation, the name that `docs` reads."""
    text: str
    """One line about it."""
    more: str
    """The next useful command."""


@dataclass(frozen=True)
class Found:
    """The matches of a query, the best first."""

    query: str
    counts: dict[Kind, int]
    """Kind -> number of matches; kinds without any are missing."""
    corrected: dict[str, list[str]]
    """Word of the query that occurs nowhere -> the words that were searched for instead."""
    hits: list[Hit]
    """A page of the matches."""
    offset: int
    """Number of matches before this page."""
    cursor: int | None
    """Pass it as `offset` to get the matches that follow; None if there are none."""


def search(query: str, kind: Kind | None, limit: int, offset: int, runs_dir: Path) -> Found:
    """Returns a page of what matches a query. `kind`: hits of this kind only; all kinds are counted. Without
    a query, everything matches."""
    every = [entry for one in KINDS for entry in entries(one, runs_dir)]
    found, corrected = _ranked(query, every)
    counts = Counter(entry.kind for entry in found)
    shown = found
    if kind is not None:
        # Ranked alone: entries of other kinds may match more words, which must not hide these.
        shown, corrected = _ranked(query, [entry for entry in every if entry.kind == kind])
        counts[kind] = len(shown)
    end = offset + limit
    return Found(
        query=query,
        counts={one: counts[one] for one in KINDS if counts[one]},
        corrected=corrected,
        hits=[Hit(e.kind, e.name, e.line, e.more) for e in shown[offset:end]],
        offset=offset,
        cursor=end if end < len(shown) else None,
    )


def _ranked(query: str, every: list[Entry]) -> tuple[list[Entry], dict[str, list[str]]]:
    """Returns the entries that match a query, and the corrections of its words."""
    matches = rank(query, [entry.document() for entry in every])
    return [every[i] for i in matches.ranked], matches.corrected
