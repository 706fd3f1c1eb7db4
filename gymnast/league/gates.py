"""Whether a win rate is surely on one side of a threshold: what lets a candidate into the pool, or lets
a role that is too far ahead pause its learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from gymnast.errors import GymnastError
from gymnast.rl.statistics import Interval
from gymnast.text.wording import counted


class Record(Protocol):
    """Matches of one side: `Wins`, or a `Tally` seen from the row."""

    @property
    def known(self) -> int: ...

    def rate(self) -> Interval: ...


Verdict = Literal["above", "below", "unsure"]


@dataclass(frozen=True)
class Gate:
    threshold: float
    """A win rate, 0..1."""
    matches: int
    """With fewer known outcomes nothing is sure."""

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise GymnastError(f"a win rate of {self.threshold}", fix="a threshold between 0 and 1")
        if self.matches < 1:
            raise GymnastError(f"a gate after {self.matches} matches", fix="at least 1 match")

    def verdict(self, record: Record) -> Verdict:
        """By the whole 95 % interval, not by its middle."""
        if record.known < self.matches:
            return "unsure"
        rate = record.rate()
        if rate.low > self.threshold:
            return "above"
        return "below" if rate.high < self.threshold else "unsure"

    def why(self, record: Record) -> str:
        """The verdict in words: `above: wins 80% [71, 87] of 100 matches, threshold 60%`."""
        verdict = self.verdict(record)
        if record.known == 0:
            return f"{verdict}: no known outcome, {self.matches} are needed"
        said = (
            f"{verdict}: wins {shown(record.rate())} of {counted(record.known, 'match', 'matches')}"
        )
        if record.known < self.matches:
            return f"{said}, {self.matches} are needed"
        return f"{said}, threshold {100 * self.threshold:.0f}%"


def shown(rate: Interval) -> str:
    """A win rate and its interval, in percent."""
    return f"{100 * rate.mean:.0f}% [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
