"""The metrics of a set of finished matches."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.collect.matches import MatchEnd


def match_row(
    ends: Sequence[MatchEnd] | deque[MatchEnd],
    outcomes: Mapping[str, str],
    metric_keys: Mapping[str, str],
) -> dict[str, float]:
    """Returns the metrics of finished matches: their number, mean duration, share of each of `outcomes`
    (outcome -> winning role), and the mean of each match metric. `metric_keys` maps metric names to keys of
    `MatchEnd.numbers`. Without matches, only the number."""
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
    for metric, key in metric_keys.items():
        values = [end.numbers[key] for end in ends if key in end.numbers]
        if values:
            row[metric] = float(np.mean(values))
    return row
