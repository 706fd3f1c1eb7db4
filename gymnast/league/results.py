"""The table of results: how often each entrant of one role won against each entrant of the other.

A match is between an entrant of the row role (say, seekers) and one of the column role (hiders). It is won by
one of them or drawn, or its outcome is unknown. Unknown outcomes are counted, but count for neither side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gymnast.errors import GymnastError
from gymnast.rl.statistics import Interval, wilson_interval

NOBODY = ""
"""The winner of a drawn match."""


class Entrant(NamedTuple):
    role: str
    name: str
    """The env step of a checkpoint, or the name of a scripted opponent."""

    def __str__(self) -> str:
        return f"{self.role}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Entrant:
        """Parses `hider:scripted:medium`; a role contains no colon."""
        role, _, name = text.partition(":")
        if not role or not name:
            raise GymnastError(
                f"{text!r} is not an entrant", fix="write ROLE:NAME, as in seeker:200000"
            )
        return cls(role, name)


def score(role: str, winner: str | None) -> float | None:
    """Returns a role's score in a match: 1 won, 1/2 drawn, 0 lost, None if the winner is unknown."""
    if winner is None:
        return None
    return 0.5 if winner == NOBODY else float(winner == role)


@dataclass(frozen=True)
class Tally:
    """Number of matches of one pair by result."""

    row: int = 0
    """Matches won by the row role."""
    column: int = 0
    """Matches won by the column role."""
    drawn: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        if min(self.row, self.column, self.drawn, self.unknown) < 0:
            raise ValueError(f"numbers of matches cannot be negative: {self}")

    @property
    def known(self) -> int:
        return self.row + self.column + self.drawn

    @property
    def score(self) -> float:
        """Number of matches won by the row role; a draw counts as half."""
        return self.row + self.drawn / 2

    def rate(self) -> Interval:
        """Returns the win rate of the row role over matches with a known outcome."""
        return wilson_interval(self.score, self.known)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.row + other.row,
            self.column + other.column,
            self.drawn + other.drawn,
            self.unknown + other.unknown,
        )


@dataclass
class Results:
    row: str
    """The role in the rows, say `seeker`."""
    column: str
    """The role in the columns."""
    pairs: dict[tuple[str, str], Tally] = field(default_factory=dict[tuple[str, str], Tally])
    """Results of each pair, by (name of the row entrant, name of the column entrant)."""

    def __post_init__(self) -> None:
        for role in (self.row, self.column):
            if not role or ":" in role:
                raise GymnastError(
                    f"{role!r} is not a valid role name", fix="use a word without a colon"
                )
        if self.row == self.column:
            raise GymnastError(
                f"both roles are called {self.row!r}", fix="use different roles in rows and columns"
            )

    def add(self, row: str, column: str, winner: str | None, n: int = 1) -> None:
        """Adds n matches won by the role `winner`; NOBODY is a draw, None an unknown outcome."""
        if winner is None:
            tally = Tally(unknown=n)
        elif winner == NOBODY:
            tally = Tally(drawn=n)
        elif winner == self.row:
            tally = Tally(row=n)
        elif winner == self.column:
            tally = Tally(column=n)
        else:
            raise GymnastError(
                f"a match cannot be won by {winner!r}",
                at=f"{self.row} {row} against {self.column} {column}",
                fix=f"use {self.row!r}, {self.column!r}, '' for a draw, or None for unknown",
            )
        self.pairs[row, column] = self.between(row, column) + tally

    def between(self, row: str, column: str) -> Tally:
        return self.pairs.get((row, column), Tally())

    def merge(self, other: Results) -> Results:
        """Returns the sum of both tables, which must not contain the same matches."""
        if (self.row, self.column) != (other.row, other.column):
            raise GymnastError(
                f"results of {other.row} against {other.column} cannot be merged"
                f" with results of {self.row} against {self.column}",
                fix="merge tables of the same roles",
            )
        both = Results(self.row, self.column, dict(self.pairs))
        for pair, tally in other.pairs.items():
            both.pairs[pair] = both.between(*pair) + tally
        return both

    def rows(self) -> list[str]:
        """Returns the entrants of the row role, in natural order."""
        return sorted({row for row, _ in self.pairs}, key=natural)

    def columns(self) -> list[str]:
        """Returns the entrants of the column role, in natural order."""
        return sorted({column for _, column in self.pairs}, key=natural)

    def ordered(self) -> Iterator[tuple[str, str, Tally]]:
        """Yields (row entrant, column entrant, results) in natural order."""
        for row, column in sorted(self.pairs, key=lambda pair: tuple(map(natural, pair))):
            yield row, column, self.pairs[row, column]

    def total(self) -> Tally:
        return sum(self.pairs.values(), Tally())

    def of(self, entrant: Entrant) -> Tally:
        """Returns the results of all matches of one entrant."""
        if entrant.role not in (self.row, self.column):
            raise GymnastError(
                f"there is no role {entrant.role}",
                at=str(entrant),
                fix=f"use {self.row} or {self.column}",
            )
        axis = (self.row, self.column).index(entrant.role)
        played = (tally for pair, tally in self.pairs.items() if pair[axis] == entrant.name)
        return sum(played, Tally())

    def to_json(self) -> dict[str, Any]:
        """Returns the table as JSON data; it does not depend on the order in which matches were added."""
        pairs = [
            {
                "row": row,
                "column": column,
                "won": [tally.row, tally.column],
                "drawn": tally.drawn,
                "unknown": tally.unknown,
            }
            for row, column, tally in self.ordered()
        ]
        return {"roles": [self.row, self.column], "pairs": pairs}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Results:
        try:
            results = cls(*stored["roles"])
            for pair in stored["pairs"]:
                won, lost = pair["won"]
                tally = Tally(won, lost, pair["drawn"], pair["unknown"])
                names = pair["row"], pair["column"]
                results.pairs[names] = results.between(*names) + tally
        except (KeyError, TypeError, ValueError) as error:
            raise GymnastError(
                f"this is not a table of results ({error!r})", fix="write it with Results.to_json"
            ) from None
        return results


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Returns a sort key for natural order: numbers by size, and before words."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((not part.isdecimal(), *_size(part)) for part in parts)


def _size(part: str) -> tuple[int, str]:
    return (int(part), part) if part.isdecimal() else (0, part)
