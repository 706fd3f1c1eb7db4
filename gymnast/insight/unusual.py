"""What is unusual about a run, the most striking first: where no known cause matches, a place to start.

Nothing here is judged to be wrong. Settings are compared with the preset, metrics with healthy runs of
it, and the course of training with what learning looks like.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from gymnast.insight.causes import is_symptom
from gymnast.insight.envelope import Departure
from gymnast.insight.reference import Reference
from gymnast.text import wording

Rows = Sequence[Mapping[str, float]]
Remark = tuple[float, str]
"""How striking it is, in powers of ten or what is comparable to them; what it is."""
MOST = 8


def unusual(
    settings: Mapping[str, Any],
    rows: Rows,
    reference: Reference,
    departures: Sequence[Departure],
    alerts: Sequence[Mapping[str, Any]],
) -> list[str]:
    """`alerts`: those of the run; symptoms among them are listed."""
    symptoms = [alert["message"] for alert in alerts if is_symptom(alert["id"])]
    remarks = [
        *((0.8, message) for message in symptoms),
        *((max(one.distance, 0.3), str(one)) for one in reference.differences(settings)),
        *((_departs(one), str(one)) for one in departures),
        *(_course(rows) if rows else ()),
    ]
    return [text for _, text in sorted(remarks, key=lambda remark: -remark[0])][:MOST]


def _departs(one: Departure) -> float:
    return one.share * (abs(math.log10(one.factor)) if math.isfinite(one.factor) else 0.5)


def _course(rows: Rows) -> Iterator[Remark]:
    """What the curves look like."""
    told = [row for row in rows if "episode/return" in row]
    if len(told) >= 5:
        yield from _returns(told)
    explained = _late(rows, "value/explained_variance")
    if explained is not None and explained < 0.1:
        yield 0.6, f"the critic explains {explained:.0%} of the variance of its targets at the end"
    entropy = _late(rows, "policy/entropy_share")
    if entropy is not None and entropy > 0.9:
        yield 0.9, f"the policy is nearly uniform at the end: {entropy:.0%} of the highest entropy"
    if entropy is not None and entropy < 0.02:
        yield (
            0.7,
            f"the policy is nearly deterministic at the end: {entropy:.1%} of the highest entropy",
        )


def _returns(told: Rows) -> Iterator[Remark]:
    part = max(1, len(told) // 5)
    first, before, last = (
        fmean(row["episode/return"] for row in rows)
        for rows in (told[:part], told[-2 * part : -part], told[-part:])
    )
    spread, count = told[-1].get("episode/return_std", 0.0), told[-1].get("episode/count", 1.0)
    chance = 3 * spread / math.sqrt(max(count, 1.0))
    ends = f"{wording.number(first)} at first, {wording.number(last)} at the end"
    if spread == 0:
        yield 1.2, f"every recent training episode returns the same: {wording.number(last)}"
    elif abs(last - first) <= chance:
        yield 1.0, f"the training return is flat: {ends}"
    elif last < first:
        yield 1.1, f"the training return fell: {ends}"
    elif last - before > max(chance, 0.1 * (last - first)):
        yield 0.9, f"the training return was still rising when training ended: {ends}"
    else:
        yield 0.2, f"the training return rose, then no further: {ends}"


def _late(rows: Rows, key: str) -> float | None:
    values = [row[key] for row in rows if key in row]
    return fmean(values[-max(1, len(values) // 5) :]) if values else None
