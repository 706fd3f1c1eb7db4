"""Unusual facts about a run, the most unusual first: a place to start if no known cause matches.

Nothing here is necessarily wrong. Settings are compared with the preset, metrics with healthy runs of it, and
the learning curve with that of a typical run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from gymnast.insight.causes import is_symptom
from gymnast.insight.envelope import EnvelopeViolation
from gymnast.insight.reference import Reference
from gymnast.metrics.checks.critic import explained_text
from gymnast.runs.info import AlertInfo
from gymnast.text import formatting

Rows = Sequence[Mapping[str, float]]
Remark = tuple[float, str]
"""How unusual it is, in powers of ten or on a comparable scale, and its description."""
LIMIT = 8
"""Maximum number of remarks."""


def unusual_facts(
    settings: Mapping[str, object],
    rows: Rows,
    reference: Reference,
    violations: Sequence[EnvelopeViolation],
    alerts: Sequence[AlertInfo],
) -> list[str]:
    """Returns at most LIMIT remarks about a run, the most unusual first. `settings`: dotted config
    key -> plain value; `violations`: metrics outside the envelope of healthy runs; `alerts`: its
    alerts, of which symptoms are included."""
    # All on one scale: the log10 of how many times too large or small a value is; 0.8 is about a factor of 6.
    symptoms = [alert["message"] for alert in alerts if is_symptom(alert["id"])]
    remarks = [
        *((0.8, message) for message in symptoms),
        *((max(one.distance, 0.3), str(one)) for one in reference.differences(settings)),
        *((_violation_size(one), str(one)) for one in violations),
        *(_curve_remarks(rows) if rows else ()),
    ]
    return [text for _, text in sorted(remarks, key=lambda remark: -remark[0])][:LIMIT]


def return_noise(row: Mapping[str, float]) -> float:
    """Returns three standard errors of the mean training return: smaller differences may be chance."""
    count = max(row.get("episode/count", 1.0), 1.0)
    return 3 * row.get("episode/return_std", 0.0) / math.sqrt(count)


def _violation_size(one: EnvelopeViolation) -> float:
    return one.share * (abs(math.log10(one.factor)) if math.isfinite(one.factor) else 0.5)


def _curve_remarks(rows: Rows) -> Iterator[Remark]:
    """Yields remarks about the learning curves."""
    with_return = [row for row in rows if "episode/return" in row]
    # Without their spread, which other programs do not record, chance cannot be distinguished from change.
    if len(with_return) >= 5 and "episode/return_std" in with_return[-1]:
        yield from _returns(with_return)
    explained = _late(rows, "value/explained_variance")
    if explained is not None and explained < 0.1:
        yield 0.6, f"at the end, the critic {explained_text(explained)}"
    entropy = _late(rows, "policy/entropy_share")
    if entropy is not None and entropy > 0.9:
        yield 0.9, f"the policy is nearly uniform at the end: {entropy:.0%} of the maximum entropy"
    if entropy is not None and entropy < 0.02:
        yield (
            0.7,
            f"the policy is nearly deterministic at the end: {entropy:.1%} of the maximum entropy",
        )


def _returns(rows: Rows) -> Iterator[Remark]:
    """Yields one remark about the training return, from a comparison of the first fifth of these
    rows, the last but one and the last; all of them must have `episode/return`."""
    part = max(1, len(rows) // 5)
    first, before, last = (
        fmean(row["episode/return"] for row in part_rows)
        for part_rows in (rows[:part], rows[-2 * part : -part], rows[-part:])
    )
    chance = return_noise(rows[-1])
    ends = f"{formatting.number(first)} at first, {formatting.number(last)} at the end"
    if chance == 0:
        yield 1.2, f"all recent training episodes have the same return: {formatting.number(last)}"
    elif abs(last - first) <= chance:
        yield 1.0, f"the training return is flat: {ends}"
    elif last < first:
        yield 1.1, f"the training return fell: {ends}"
    elif last - before > max(chance, 0.1 * (last - first)):
        yield 0.9, f"the training return was still rising when training ended: {ends}"
    else:
        yield 0.2, f"the training return rose and then stopped improving: {ends}"


def _late(rows: Rows, key: str) -> float | None:
    """Returns the mean of a metric over the last fifth of the rows that have it; None if there is
    none."""
    values = [row[key] for row in rows if key in row]
    return fmean(values[-max(1, len(values) // 5) :]) if values else None
