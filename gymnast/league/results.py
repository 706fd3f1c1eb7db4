"""Who played whom, and how it ended.

A match is between an entrant of the row role and one of the column role, say seekers and hiders. It is
won by one of them, drawn, or its outcome is unknown; what is unknown counts for nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gymnast.errors import GymnastError
from gymnast.rl.statistics import Interval, wilson_interval

NOBODY = ""
"""Who has won a drawn match."""


class Entrant(NamedTuple):
    role: str
    name: str
    """The step of a checkpoint, or what a scripted opponent is called."""

    def __str__(self) -> str:
        return f"{self.role}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Entrant:
        """From `hider:scripted:medium`; a role has no colon in it."""
        role, _, name = text.partition(":")
        if not role or not name:
            raise GymnastError(
                f"{text!r} is no entrant", fix="write ROLE:NAME, as in seeker:200000"
            )
        return cls(role, name)


def score(role: str, winner: str | None) -> float | None:
    """What a match is worth to a role: 1 won, 1/2 drawn, 0 lost, None where nobody knows."""
    if winner is None:
        return None
    return 0.5 if winner == NOBODY else float(winner == role)


@dataclass(frozen=True)
class Tally:
    """How the matches of one pair ended."""

    row: int = 0
    """Won by the row role."""
    column: int = 0
    """Won by the column role."""
    drawn: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        if min(self.row, self.column, self.drawn, self.unknown) < 0:
            raise ValueError(f"matches are counted from 0: {self}")

    @property
    def known(self) -> int:
        return self.row + self.column + self.drawn

    @property
    def score(self) -> float:
        """Matches won by the row role, a drawn one as half."""
        return self.row + self.drawn / 2

    def rate(self) -> Interval:
        """The share of its known matches that the row role wins."""
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
    """The role in rows, say `seeker`."""
    column: str
    pairs: dict[tuple[str, str], Tally] = field(default_factory=dict[tuple[str, str], Tally])
    """(name in its row, name in its column) -> their matches."""

    def __post_init__(self) -> None:
        for role in (self.row, self.column):
            if not role or ":" in role:
                raise GymnastError(f"{role!r} cannot name a role", fix="a word without a colon")
        if self.row == self.column:
            raise GymnastError(
                f"both roles are called {self.row!r}", fix="a role in rows and another in columns"
            )

    def add(self, row: str, column: str, winner: str | None, n: int = 1) -> None:
        """Matches won by that role, by NOBODY, or by nobody knows whom (None)."""
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
                fix=f"the winner is {self.row!r}, {self.column!r}, '' for nobody or None for unknown",
            )
        self.pairs[row, column] = self.between(row, column) + tally

    def between(self, row: str, column: str) -> Tally:
        return self.pairs.get((row, column), Tally())

    def merge(self, other: Results) -> Results:
        """Both tables as one; the matches in them are to be different ones."""
        if (self.row, self.column) != (other.row, other.column):
            raise GymnastError(
                f"results of {other.row} against {other.column} cannot join"
                f" those of {self.row} against {self.column}",
                fix="merge tables of the same roles",
            )
        both = Results(self.row, self.column, dict(self.pairs))
        for pair, tally in other.pairs.items():
            both.pairs[pair] = both.between(*pair) + tally
        return both

    def rows(self) -> list[str]:
        """In natural order, as all that follows."""
        return sorted({row for row, _ in self.pairs}, key=natural)

    def columns(self) -> list[str]:
        return sorted({column for _, column in self.pairs}, key=natural)

    def ordered(self) -> Iterator[tuple[str, str, Tally]]:
        for row, column in sorted(self.pairs, key=lambda pair: tuple(map(natural, pair))):
            yield row, column, self.pairs[row, column]

    def total(self) -> Tally:
        return sum(self.pairs.values(), Tally())

    def of(self, entrant: Entrant) -> Tally:
        """All matches of one entrant."""
        if entrant.role not in (self.row, self.column):
            raise GymnastError(
                f"nobody plays {entrant.role}", at=str(entrant), fix=f"{self.row} or {self.column}"
            )
        place = (self.row, self.column).index(entrant.role)
        played = (tally for pair, tally in self.pairs.items() if pair[place] == entrant.name)
        return sum(played, Tally())

    def to_json(self) -> dict[str, Any]:
        """Equal tables give equal texts, in whatever order matches came."""
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
                f"this is no table of results ({error!r})", fix="write it with Results.to_json"
            ) from None
        return results


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Orders names as people do: numbers by size, before words."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((not part.isdecimal(), *_size(part)) for part in parts)


def _size(part: str) -> tuple[int, str]:
    return (int(part), part) if part.isdecimal() else (0, part)
