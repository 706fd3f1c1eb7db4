"""What shaping terms came to per episode, by a run's own record, beside the raw return.

A record has the mean of a term over the steps of each rollout; times the mean length of episodes this is
its total per episode. A term outweighs the raw return where that total is larger than all that raw
returns ranged over in the run: then even the best episode is not worth what the term may pay or take.
Where raw returns never differed, their size is the measure instead. A term may be large for a while, to
fade later: judged is the median of the record's last quarter, and that of the whole record. A potential
is not judged: what it pays for getting somewhere it takes back for leaving, so nothing can be collected
from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gymnast.config.sections.shaping import TermConfig, known_term

Row = Mapping[str, float]
Verdict = Literal["sound", "outweighs", "potential", "unknown"]

LATE = 0.25
"""Share of the rows that a verdict is by."""


@dataclass(frozen=True)
class ShapingTotal:
    """Of one term, per episode; its weight included."""

    role: str
    """Empty where there is one agent."""
    term: str
    first: float
    last: float
    """Median of the last quarter."""
    usual: float
    """Median of all."""
    most: float
    """The largest by its size."""
    raw: tuple[float, float]
    """Least and most raw return of an episode in the run."""
    potential: bool

    @property
    def size(self) -> float:
        """What is judged: the larger of how training ended and how it usually was."""
        return max(abs(self.last), abs(self.usual))

    @property
    def share(self) -> float | None:
        """Of the range of raw returns, or of their size where they never differed; None where all
        are 0."""
        low, high = self.raw
        worth = high - low or abs(high)
        return self.size / worth if worth else None

    @property
    def verdict(self) -> Verdict:
        if self.potential:
            return "potential"
        if self.share is None:
            return "unknown" if self.size else "sound"
        return "outweighs" if self.share > 1 else "sound"


def shaping_totals(
    rows: Sequence[Row], terms: Mapping[str, TermConfig], role: str = ""
) -> list[ShapingTotal]:
    """Of those terms that the record tells of."""
    scope = f"{role}:" if role else ""
    lengths, low, high = (f"{scope}episode/{key}" for key in ("length", "return_min", "return_max"))
    ended = [row for row in rows if lengths in row]
    found: list[ShapingTotal] = []
    for name, cfg in terms.items():
        key = f"{scope}shaping/{name}"
        per_episode = [row[key] * row[lengths] for row in ended if key in row]
        if not per_episode:
            continue
        late = per_episode[-max(1, round(LATE * len(per_episode))) :]
        raw = min(row[low] for row in ended), max(row[high] for row in ended)
        found.append(
            ShapingTotal(
                role=role,
                term=name,
                first=per_episode[0],
                last=float(np.median(late)),
                usual=float(np.median(per_episode)),
                most=max(per_episode, key=abs),
                raw=raw,
                potential=known_term(name, cfg).potential,
            )
        )
    return found
