"""Decides if a win rate is significantly above or below a threshold, for pools and ladders of opponents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from gymnast.errors import GymnastError
from gymnast.rl.interval import Interval
from gymnast.text.formatting import count_noun


class WinRecord(Protocol):
    """Results of one side: `RecentWins`, or a `Tally` from the side of the row role."""

    @property
    def n_known(self) -> int: ...

    def win_rate(self) -> Interval: ...


Verdict = Literal["above", "below", "unsure"]


@dataclass(frozen=True)
class Gate:
    threshold: float
    """Win rate between 0 and 1."""
    min_matches: int
    """Minimum number of known outcomes; with fewer, the verdict is `unsure`."""

    def __post_init__(self) -> None:
        """Raises GymnastError if the threshold is not a rate between 0 and 1, or `min_matches` is below 1."""
        if not 0 <= self.threshold <= 1:
            raise GymnastError(
                f"the threshold of a gate is {self.threshold}", fix="use a win rate between 0 and 1"
            )
        if self.min_matches < 1:
            raise GymnastError(
                f"min_matches of a gate is {self.min_matches}", fix="use at least 1 match"
            )

    def verdict(self, record: WinRecord) -> Verdict:
        """Returns whether the win rate is significantly above or below the threshold: its whole 95 % interval
        must be on that side. Otherwise, and with fewer than `min_matches` known outcomes, it is `unsure`."""
        if record.n_known < self.min_matches:
            return "unsure"
        rate = record.win_rate()
        if rate.low > self.threshold:
            return "above"
        return "below" if rate.high < self.threshold else "unsure"

    def explain(self, record: WinRecord) -> str:
        """Returns the verdict with its numbers as text: `above: wins 80% [71, 87] of 100 matches, threshold
        60%`."""
        verdict = self.verdict(record)
        if record.n_known == 0:
            return f"{verdict}: no known outcome, {self.min_matches} are needed"
        matches = count_noun(record.n_known, "match", "matches")
        text = f"{verdict}: wins {format_win_rate(record.win_rate())} of {matches}"
        if record.n_known < self.min_matches:
            return f"{text}, {self.min_matches} are needed"
        return f"{text}, threshold {100 * self.threshold:.0f}%"


def format_win_rate(rate: Interval) -> str:
    """Formats a win rate and its interval in percent: `80% [71, 87]`."""
    return f"{100 * rate.mean:.0f}% [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
