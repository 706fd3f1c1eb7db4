"""What a row says of matches between roles."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.collect.matches import MatchEnd


def match_row(
    ends: Sequence[MatchEnd] | deque[MatchEnd],
    outcomes: Mapping[str, str],
    numbers: Mapping[str, str],
) -> dict[str, float]:
    """Of matches that are over: how, after how long, and what the environment told of them."""
    if not ends:
        return {"match/count": 0}
    n = len(ends)
    row: dict[str, float] = {
        "match/count": n,
        "match/duration": sum(end.length for end in ends) / n,
        "match/unknown_share": sum(end.winner is None for end in ends) / n,
    }
    for outcome in outcomes:
        row[f"match/{outcome}_share"] = sum(end.outcome == outcome for end in ends) / n
    for metric, key in numbers.items():
        told = [end.numbers[key] for end in ends if key in end.numbers]
        if told:
            row[metric] = float(np.mean(told))
    return row
