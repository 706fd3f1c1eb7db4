"""Totals of shaping terms per episode, from the run's recorded metrics, compared with raw returns.

The metrics contain the mean of a term over the steps of each rollout; multiplied by the mean episode length,
this is the total per episode. A term outweighs the raw return if its total is larger than the range of raw
returns in the run: then even the best episode is worth less than the term. If all raw returns were equal,
their absolute value is used instead of their range. A term may be large at first and fade later, so the
larger of two medians counts: over the last quarter of the rows, and over all rows. Potential-based terms are
not judged: what they give for reaching a state they take back for leaving it, so they cannot be farmed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gymnast.audit.record import ShapingTotal, Verdict
from gymnast.config.sections.shaping import TermConfig, term_spec

Row = Mapping[str, float]

LATE = 0.25
"""Fraction of the rows that counts as the end of training."""


def judge(total: ShapingTotal) -> ShapingTotal:
    """Returns the totals of a term with its share and the verdict."""
    judged = max(abs(total.last), abs(total.usual))
    low, high = total.raw
    scale = high - low or abs(high)  # all raw returns equal: there is no range
    share = judged / scale if scale else None
    verdict: Verdict
    if total.potential:
        verdict = "potential"
    elif share is None:
        verdict = "unknown" if judged else "sound"
    else:
        verdict = "outweighs" if share > 1 else "sound"
    return replace(total, share=share, verdict=verdict)


def shaping_totals(
    rows: Sequence[Row], terms: Mapping[str, TermConfig], role: str = ""
) -> list[ShapingTotal]:
    """Returns the totals of the terms that occur in the rows. `rows`: the metrics of a run;
    `terms`: name -> config of the term; `role`: empty if there is only one agent."""
    scope = f"{role}:" if role else ""
    length, low, high = (f"{scope}episode/{key}" for key in ("length", "return_min", "return_max"))
    with_episodes = [row for row in rows if length in row]
    totals: list[ShapingTotal] = []
    for name, cfg in terms.items():
        key = f"{scope}shaping/{name}"
        # Mean per step times mean length: the mean total, up to their covariance.
        per_episode = [row[key] * row[length] for row in with_episodes if key in row]
        if not per_episode:
            continue
        late = per_episode[-max(1, round(LATE * len(per_episode))) :]
        raw = min(row[low] for row in with_episodes), max(row[high] for row in with_episodes)
        total = ShapingTotal(
            role=role,
            term=name,
            first=per_episode[0],
            last=float(np.median(late)),
            usual=float(np.median(per_episode)),
            most=max(per_episode, key=abs),
            raw=raw,
            potential=term_spec(name, cfg).is_potential,
        )
        totals.append(judge(total))
    return totals
