"""Causes of a failure that the config and the record show directly, without an alert.

Only a failed run is searched for them: the same settings may do no harm elsewhere. A setting that the
preset shares is not suspected where stored runs of the preset solve the task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from gymnast.config.numbers import number_text
from gymnast.config.schedule import Position, Schedule
from gymnast.insight.causes import SHORT_HORIZON, Finding
from gymnast.insight.reference import Reference
from gymnast.metrics.checks.experience import gamma_for, horizon_of

Rows = Sequence[Mapping[str, float]]
NEARLY_ZERO = 0.01
"""Of its peak: a learning rate below this moves nothing."""
EARLY_END = 0.6
"""Of the run: a learning rate that is nearly zero before this ended too early."""
DECAYED = 0.5
"""Sum of learning rate times weight decay over gradient steps: weights shrink by a factor of e for 1."""
HORIZONS = 10.0
"""An episode of more horizons than this may reward what an action led to after the discount."""
NARROW, WIDE = -1.5, 1.5
"""Initial log standard deviations outside of this leave little to chance, or nearly everything."""
ENOUGH = 0.8
"""Of the env steps that the fastest stored run needed."""


@dataclass(frozen=True)
class Evidence:
    settings: Mapping[str, Any]
    rows: Rows
    reference: Reference

    def column(self, key: str) -> list[float]:
        return [row[key] for row in self.rows if key in row]

    def is_the_presets(self, key: str) -> bool:
        """Whether stored runs solve the task with this setting as it is."""
        usual = self.reference.settings.get(key)
        return self.reference.solves and usual == self.settings.get(key)


def suspects(
    settings: Mapping[str, Any], rows: Rows, reference: Reference, treated: Collection[str]
) -> list[Finding]:
    """Of a run that failed. `treated`: settings that other findings change already."""
    evidence = Evidence(settings, rows, reference)
    looked = [look(evidence) for look in _LOOKS] if rows else []
    found = [finding for finding in looked if finding is not None]
    explained = {*treated, *(key for finding in found for key in finding.changes)}
    return [*found, *_unlike_the_preset(evidence, explained)]


def _small_budget(of: Evidence) -> Finding | None:
    steps, needed = of.rows[-1]["clock/env_steps"], of.reference.solved_after
    if not needed or steps >= ENOUGH * min(needed):
        return None
    theirs = f"{min(needed):,} to {max(needed):,}"
    text = f"it took {steps:,.0f} env steps; stored runs that solved it took {theirs}"
    return Finding("the budget is too small", 90.0, [text])


def _rate_ends_early(of: Evidence) -> Finding | None:
    rated = [row for row in of.rows if "hyper/lr" in row]
    peak = max((row["hyper/lr"] for row in rated), default=0.0)
    alive = [row for row in rated if row["hyper/lr"] > NEARLY_ZERO * peak]
    if not alive or alive[-1] is rated[-1]:
        return None
    share = alive[-1]["clock/env_steps"] / rated[-1]["clock/env_steps"]
    if share > EARLY_END:
        return None
    text = f"algo.lr is nearly 0 from {share:.0%} of training on: {of.settings['algo.lr']}"
    frames = [(Position(0), peak)]
    if "progress/share" in of.rows[-1]:  # a percentage needs a budget
        frames.append((Position(100, percent=True), 0.0))
    rate = Schedule(tuple(frames)).plain()
    return Finding("the learning rate reaches 0 too early", 87.0, [text], {"algo.lr": rate})


def _weights_decay(of: Evidence) -> Finding | None:
    decay, rates = float(of.settings.get("algo.weight_decay", 0.0)), of.column("hyper/lr")
    updates = of.column("clock/updates")
    if not (decay and rates and updates) or of.is_the_presets("algo.weight_decay"):
        return None
    shrinking = decay * fmean(rates) * updates[-1]
    if shrinking < DECAYED:
        return None
    text = (
        f"algo.weight_decay={number_text(decay)} alone shrinks the weights by a factor of "
        f"{math.exp(min(shrinking, 50.0)):.3g} over {updates[-1]:,.0f} gradient steps"
    )
    return Finding("weight decay is too large", 85.0, [text], {"algo.weight_decay": 0.0})


def _short_horizon(of: Evidence) -> Finding | None:
    lengths, gaps = of.column("episode/length"), of.column("rollout/reward_interval")
    gamma = Schedule.parse(of.settings.get("algo.gamma", 0.99)).highest
    if not lengths or gamma == 0 or of.is_the_presets("algo.gamma"):
        return None
    horizon, length, gap = horizon_of(gamma), _late(lengths), _late(gaps) if gaps else 1.0
    rare = (
        horizon < gap <= length
    )  # a gap longer than an episode: there is no reward to look ahead to
    if horizon * HORIZONS >= length and not rare:
        return None
    text = (
        f"rewards more than {horizon:.1f} steps ahead hardly count (algo.gamma={gamma:g}); episodes "
        f"have {length:.0f} steps"
    )
    if rare:
        text += f", and a reward comes every {gap:.0f} steps"
    return Finding(SHORT_HORIZON, 55.0, [text], {"algo.gamma": gamma_for(max(lengths))})


def _initial_noise(of: Evidence) -> Finding | None:
    start = float(of.settings.get("policy.log_std", 0.0))
    if not of.column("policy/log_std") or NARROW <= start <= WIDE:
        return None
    if of.is_the_presets("policy.log_std"):
        return None
    what = "too little" if start < NARROW else "too much"
    text = f"policy.log_std={start:g}: the untrained policy's standard deviation is {math.exp(start):.2g}"
    name = f"the untrained policy explores {what}"
    return Finding(name, 81.0, [text], {"policy.log_std": 0.0})


def _unlike_the_preset(of: Evidence, explained: Collection[str]) -> Iterator[Finding]:
    """Settings that no other finding is about."""
    differ = [
        d
        for d in of.reference.differences(of.settings)
        if d.concerns_learning and d.key not in explained
    ]
    if of.reference.solves and differ:
        back = {d.key: d.usual for d in differ}
        name = "settings differ from the preset, whose stored runs solve it"
        yield Finding(name, 30.0, [str(d) for d in differ], back)


_LOOKS: tuple[Callable[[Evidence], Finding | None], ...] = (
    _small_budget,
    _rate_ends_early,
    _weights_decay,
    _short_horizon,
    _initial_noise,
)


def _late(values: Sequence[float]) -> float:
    """Median of the last quarter."""
    return median(values[-max(1, len(values) // 4) :])
