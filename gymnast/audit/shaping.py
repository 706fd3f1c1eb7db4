"""What shaping terms came to per episode, by a run's own record, beside the raw return.

A record has the mean of a term over the steps of each rollout; times the mean length of episodes this is
its total per episode. A term outweighs the raw return where that total is larger than all that raw
returns ranged over in the run: then even the best episode is not worth what the term may pay or take.
Judged is how training ended: the median of the record's last quarter. A potential is not: what it pays
for getting somewhere it takes back for leaving, so nothing can be collected from it.
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
    most: float
    """The largest by its size."""
    raw: tuple[float, float]
    """Least and most raw return of an episode in the run."""
    potential: bool

    @property
    def share(self) -> float | None:
        """Of the range of raw returns; None where they never differed."""
        low, high = self.raw
        return abs(self.last) / (high - low) if high > low else None

    @property
    def verdict(self) -> Verdict:
        if self.potential:
            return "potential"
        if self.share is None:
            return "unknown" if self.last else "sound"
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
                most=max(per_episode, key=abs),
                raw=raw,
                potential=known_term(name, cfg).potential,
            )
        )
    return found
