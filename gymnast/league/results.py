"""The table of results: how often each entrant of one role won against each entrant of the other.

A match is between an entrant of the row role (say, seekers) and one of the column role (hiders). It is won by
one of them or drawn, or its outcome is unknown. Unknown outcomes are counted, but count for neither side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from gymnast.errors import GymnastError
from gymnast.rl.interval import Interval
from gymnast.rl.statistics import wilson_interval

DRAW = ""
"""The winner of a drawn match."""
STEP = "step:"
"""Start of the name of a past self: `step:N`, where N is its number of env steps."""


class Entrant(NamedTuple):
    role: str
    name: str
    """The env step of a checkpoint, or the name of a scripted opponent."""

    def __str__(self) -> str:
        return f"{self.role}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Entrant:
        """Parses `hider:scripted:medium` into role and name; a role contains no colon. Raises GymnastError if
        either is empty."""
        role, _, name = text.partition(":")
        if not role or not name:
            raise GymnastError(
                f"{text!r} is not an entrant", fix="write ROLE:NAME, as in seeker:200000"
            )
        return cls(role, name)


def entrant_version(name: str) -> int | None:
    """Returns the env steps of the policy with this name, `step:N` or `N`; None for a scripted player."""
    steps = name.removeprefix(STEP)
    return int(steps) if steps.isdecimal() else None


def match_score(role: str, winner: str | None) -> float | None:
    """Returns a role's score in a match: 1 won, 1/2 drawn, 0 lost, None if the winner is unknown."""
    if winner is None:
        return None
    return 0.5 if winner == DRAW else float(winner == role)


@dataclass(frozen=True)
class Tally:
    """Number of matches of one pair by result."""

    row_wins: int = 0
    """Matches won by the row role."""
    column_wins: int = 0
    """Matches won by the column role."""
    draws: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        if min(self.row_wins, self.column_wins, self.draws, self.unknown) < 0:
            raise ValueError(f"numbers of matches cannot be negative: {self}")

    @property
    def n_known(self) -> int:
        return self.row_wins + self.column_wins + self.draws

    @property
    def score(self) -> float:
        """Number of matches won by the row role; a draw counts as half."""
        return self.row_wins + self.draws / 2

    def win_rate(self) -> Interval:
        """Returns the win rate of the row role over matches with a known outcome, with its 95 % interval.
        Without such matches the mean is NaN and the interval 0 to 1."""
        return wilson_interval(self.score, self.n_known)

    def __add__(self, other: Tally) -> Tally:
        """Returns the tally of the matches of both."""
        return Tally(
            self.row_wins + other.row_wins,
            self.column_wins + other.column_wins,
            self.draws + other.draws,
            self.unknown + other.unknown,
        )


class PairDocument(TypedDict):
    """The results of one pair as JSON values."""

    row: str
    column: str
    won: list[int]
    """Matches won by the row role and by the column role."""
    drawn: int
    unknown: int


class ResultsDocument(TypedDict):
    """A table of results as JSON values."""

    roles: list[str]
    """The role in the rows, then the one in the columns."""
    pairs: list[PairDocument]


@dataclass
class Results:
    row_role: str
    """The role in the rows, say `seeker`."""
    column_role: str
    """The role in the columns."""
    pairs: dict[tuple[str, str], Tally] = field(default_factory=dict[tuple[str, str], Tally])
    """Results of each pair, by (name of the row entrant, name of the column entrant)."""

    def __post_init__(self) -> None:
        """Raises GymnastError if a role is empty or contains a colon, or if both roles are equal."""
        for role in (self.row_role, self.column_role):
            if not role or ":" in role:
                raise GymnastError(
                    f"{role!r} is not a valid role name", fix="use a word without a colon"
                )
        if self.row_role == self.column_role:
            raise GymnastError(
                f"both roles are called {self.row_role!r}",
                fix="use different roles in rows and columns",
            )

    def add(self, row: str, column: str, winner: str | None, n: int = 1) -> None:
        """Adds n matches between the entrants `row` and `column`, won by the role `winner`; DRAW is a draw,
        None an unknown outcome. Raises GymnastError for any other winner."""
        if winner is None:
            tally = Tally(unknown=n)
        elif winner == DRAW:
            tally = Tally(draws=n)
        elif winner == self.row_role:
            tally = Tally(row_wins=n)
        elif winner == self.column_role:
            tally = Tally(column_wins=n)
        else:
            raise GymnastError(
                f"a match cannot be won by {winner!r}",
                at=f"{self.row_role} {row} against {self.column_role} {column}",
                fix=f"use {self.row_role!r}, {self.column_role!r}, '' for a draw, or None for unknown",
            )
        self.pairs[row, column] = self.pair_tally(row, column) + tally

    def pair_tally(self, row: str, column: str) -> Tally:
        return self.pairs.get((row, column), Tally())

    def merge(self, other: Results) -> Results:
        """Returns the sum of both tables, which must not contain the same matches. Raises GymnastError if
        their roles differ."""
        if (self.row_role, self.column_role) != (other.row_role, other.column_role):
            raise GymnastError(
                f"results of {other.row_role} against {other.column_role} cannot be merged"
                f" with results of {self.row_role} against {self.column_role}",
                fix="merge tables of the same roles",
            )
        both = Results(self.row_role, self.column_role, dict(self.pairs))
        for pair, tally in other.pairs.items():
            both.pairs[pair] = both.pair_tally(*pair) + tally
        return both

    def rows(self) -> list[str]:
        """Returns the entrants of the row role, in natural order."""
        return sorted({row for row, _ in self.pairs}, key=natural_key)

    def columns(self) -> list[str]:
        """Returns the entrants of the column role, in natural order."""
        return sorted({column for _, column in self.pairs}, key=natural_key)

    def sorted_pairs(self) -> Iterator[tuple[str, str, Tally]]:
        """Yields (row entrant, column entrant, results) in natural order."""
        for row, column in sorted(self.pairs, key=lambda pair: tuple(map(natural_key, pair))):
            yield row, column, self.pairs[row, column]

    def total(self) -> Tally:
        return sum(self.pairs.values(), Tally())

    def to_json(self) -> ResultsDocument:
        """Returns the table as JSON data; it does not depend on the order in which matches were added."""
        pairs: list[PairDocument] = [
            {
                "row": row,
                "column": column,
                "won": [tally.row_wins, tally.column_wins],
                "drawn": tally.draws,
                "unknown": tally.unknown,
            }
            for row, column, tally in self.sorted_pairs()
        ]
        return {"roles": [self.row_role, self.column_role], "pairs": pairs}

    @classmethod
    def from_json(cls, stored: ResultsDocument) -> Results:
        """Returns the table that `to_json` wrote; raises GymnastError if `stored` is none."""
        try:
            row_role, column_role = stored["roles"]
            results = cls(row_role, column_role)
            for pair in stored["pairs"]:
                row_wins, column_wins = pair["won"]
                tally = Tally(row_wins, column_wins, pair["drawn"], pair["unknown"])
                names = pair["row"], pair["column"]
                results.pairs[names] = results.pair_tally(*names) + tally
        except (KeyError, TypeError, ValueError) as error:
            raise GymnastError(
                f"this is not a table of results ({error!r})", fix="write it with Results.to_json"
            ) from None
        return results


def natural_key(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Returns a sort key for natural order: numbers by size, and before words."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((not part.isdecimal(), *_size(part)) for part in parts)


def _size(part: str) -> tuple[int, str]:
    """Returns the sort key of one part: its value, and the text for parts of equal value (`01`, `1`)."""
    return (int(part), part) if part.isdecimal() else (0, part)
