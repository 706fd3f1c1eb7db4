"""Causes of a failure that are visible in the config and the rows of a run, without an alert.

Only runs that are not good enough are examined, because the same settings may be harmless elsewhere. If
stored runs of the preset solve the task, settings that equal those of the preset are not suspected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from gymnast.config.numbers import format_number
from gymnast.config.schedule import Position, Schedule
from gymnast.insight.causes import SHORT_HORIZON, TOO_LARGE_STEPS, LikelyCause
from gymnast.insight.reference import FAR, Difference, Reference
from gymnast.insight.unusual import return_noise
from gymnast.metrics.checks.allowed_changes import role_key
from gymnast.metrics.checks.check import round_schedule
from gymnast.metrics.checks.experience import discount_horizon, gamma_for
from gymnast.metrics.checks.policy import BROKEN_STEP

Rows = Sequence[Mapping[str, float]]
NEARLY_ZERO = 0.01
"""A learning rate below this share of its peak counts as zero."""
EARLY_END = 0.6
"""A learning rate that is nearly zero before this share of the run reached zero too early."""
DECAYED = 0.5
"""Sum over gradient steps of learning rate times weight decay; 1 shrinks the weights by a factor of e."""
HORIZONS = 10.0
"""Episodes longer than this many discount horizons may have rewards that come too late to count."""
NARROW, WIDE = -1.5, 1.5
"""An initial log standard deviation outside this range means too little or too much exploration."""
ENOUGH = 0.8
"""A budget below this share of the env steps of the fastest stored run is too small."""
DROPPED = 0.5
"""Share of updates above which it is the learning rate, and not single batches, that broke them."""


@dataclass(frozen=True)
class Evidence:
    settings: Mapping[str, object]
    rows: Rows
    reference: Reference

    def column(self, key: str) -> list[float]:
        return [row[key] for row in self.rows if key in row]

    def number(self, key: str, default: float) -> float:
        """Returns the value of a setting that is a number."""
        return float(str(self.settings.get(key, default)))

    def unlike_preset(self) -> list[Difference]:
        """Returns the settings of learning that differ from the preset, the largest difference first."""
        differences = self.reference.differences(self.settings)
        return [one for one in differences if one.concerns_learning]

    def has_preset_value(self, key: str) -> bool:
        """True if this setting equals that of the preset, and stored runs of the preset solve the task."""
        preset_value = self.reference.settings.get(key)
        return self.reference.has_solved_runs and preset_value == self.settings.get(key)


def find_suspects(
    settings: Mapping[str, object],
    rows: Rows,
    reference: Reference,
    already_changed: Collection[str],
) -> list[LikelyCause]:
    """Returns the findings for a run that is not good enough. `settings`: dotted config key -> plain value;
    `already_changed`: settings that other findings already change."""
    evidence = Evidence(settings, rows, reference)
    results = [examine(evidence) for examine in _EXAMINATIONS] if rows else []
    findings = [finding for finding in results if finding is not None]
    explained = {*already_changed, *(key for finding in findings for key in finding.changes)}
    return [*findings, *_unlike_the_preset(evidence, explained)]


def _small_budget(evidence: Evidence) -> LikelyCause | None:
    """Returns a finding if the run ended after clearly fewer env steps than every stored run that solved the
    task, and might have learned with more: its return was rising, or its settings are those of the preset.
    Its weight is below that of every cause that settings or alerts show."""
    steps, needed = evidence.rows[-1]["clock/env_steps"], evidence.reference.solved_env_steps
    if not needed or steps >= ENOUGH * min(needed):
        return None
    # Other settings of the environment, such as a time limit, may be the reason just as well.
    if evidence.reference.differences(evidence.settings) and not _rises(evidence.rows):
        return None
    # Whoever reached the threshold is examined for another reason, such as a doubt.
    threshold = evidence.settings.get("facts.threshold")
    bounds = evidence.column("eval:episode/low")
    if isinstance(threshold, int | float) and max(bounds, default=-math.inf) >= threshold:
        return None
    taken = f"{min(needed):,} to {max(needed):,}"
    text = f"it trained for {steps:,.0f} env steps; stored runs that solved the task took {taken}"
    return LikelyCause("the budget is too small", 36.0, [text])


def _dropped_updates(evidence: Evidence) -> LikelyCause | None:
    """Returns a finding if most updates, of a role or of all, were rolled back and their batches dropped."""
    texts: list[str] = []
    changes: dict[str, object] = {}
    metric = "optim/rollbacks"  # 2: the batch was dropped
    for key in sorted({key for row in evidence.rows for key in row if key.endswith(metric)}):
        role, rollbacks = key.removesuffix(metric).rstrip(":"), evidence.column(key)
        dropped = sum(count >= 2 for count in rollbacks)
        setting = role_key("algo.lr", role, evidence.settings)
        if dropped <= DROPPED * len(rollbacks) or setting not in evidence.settings:
            continue
        who = f"{role}: " if role else ""
        texts.append(
            f"{who}{dropped} of {len(rollbacks)} updates broke the policy and were dropped"
        )
        rate = Schedule.parse(evidence.settings[setting]).scaled(BROKEN_STEP)
        changes[setting] = round_schedule(rate).to_plain()
    return LikelyCause(TOO_LARGE_STEPS, 95.0, texts, changes) if texts else None


def _lr_ends_early(evidence: Evidence) -> LikelyCause | None:
    """Returns a finding if the learning rate was nearly 0 for a large last part of the run; its
    change is a linear decay over the whole budget, or a constant rate without a budget."""
    with_lr = [row for row in evidence.rows if "hyper/lr" in row]
    peak = max((row["hyper/lr"] for row in with_lr), default=0.0)
    learning = [row for row in with_lr if row["hyper/lr"] > NEARLY_ZERO * peak]
    if not learning or learning[-1] is with_lr[-1]:
        return None
    share = learning[-1]["clock/env_steps"] / with_lr[-1]["clock/env_steps"]
    if share > EARLY_END:
        return None
    configured = evidence.settings.get("algo.lr", "not recorded in the settings")
    text = f"algo.lr is nearly 0 after {share:.0%} of training: {configured}"
    frames = [(Position(0), peak)]
    if "progress/share" in evidence.rows[-1]:  # a percentage needs a budget
        frames.append((Position(100, percent=True), 0.0))
    rate = Schedule(tuple(frames)).to_plain()
    return LikelyCause("the learning rate reaches 0 too early", 87.0, [text], {"algo.lr": rate})


def _weights_decay(evidence: Evidence) -> LikelyCause | None:
    """Returns a finding if weight decay alone would shrink the weights considerably over the
    run."""
    decay = evidence.number("algo.weight_decay", 0.0)
    rates, updates = evidence.column("hyper/lr"), evidence.column("clock/updates")
    if not (decay and rates and updates) or evidence.has_preset_value("algo.weight_decay"):
        return None
    # AdamW multiplies the weights by (1 - lr * decay) in each step, about exp(-sum of lr * decay) in total.
    shrinkage = decay * fmean(rates) * updates[-1]
    if shrinkage < DECAYED:
        return None
    text = (
        f"algo.weight_decay={format_number(decay)} alone shrinks the weights by a factor of "
        f"{math.exp(min(shrinkage, 50.0)):.3g} over {updates[-1]:,.0f} gradient steps"
    )
    return LikelyCause("weight decay is too large", 85.0, [text], {"algo.weight_decay": 0.0})


def _short_horizon(evidence: Evidence) -> LikelyCause | None:
    """Returns a finding if gamma discounts rewards within far fewer steps than an episode has, or
    before the next reward comes."""
    lengths, gaps = evidence.column("episode/length"), evidence.column("rollout/reward_interval")
    if not lengths or "algo.gamma" not in evidence.settings:
        return None
    gamma = Schedule.parse(evidence.settings["algo.gamma"]).highest
    if gamma == 0 or evidence.has_preset_value("algo.gamma"):
        return None
    horizon, length, gap = discount_horizon(gamma), _late(lengths), _late(gaps) if gaps else 1.0
    # With a gap longer than an episode there is no later reward that gamma could discount.
    rare = horizon < gap <= length
    if horizon * HORIZONS >= length and not rare:
        return None
    text = (
        f"rewards more than {horizon:.1f} steps ahead hardly count (algo.gamma={gamma:g}); episodes "
        f"have {length:.0f} steps"
    )
    if rare:
        text += f", and a reward comes every {gap:.0f} steps"
    larger = max(gamma, gamma_for(max(lengths)))  # no change if it is already as large
    return LikelyCause(SHORT_HORIZON, 55.0, [text], {"algo.gamma": larger})


def _initial_noise(evidence: Evidence) -> LikelyCause | None:
    """Returns a finding if the initial standard deviation of Box actions (`policy.log_std`) is far
    too small or too large."""
    start = evidence.number("policy.log_std", 0.0)
    # The metric exists only for Box actions.
    if not evidence.column("policy/log_std") or NARROW <= start <= WIDE:
        return None
    if evidence.has_preset_value("policy.log_std"):
        return None
    amount = "too little" if start < NARROW else "too much"
    text = f"policy.log_std={start:g}: the untrained policy's standard deviation is {math.exp(start):.2g}"
    name = f"the untrained policy explores {amount}"
    return LikelyCause(name, 81.0, [text], {"policy.log_std": 0.0})


def _unlike_the_preset(evidence: Evidence, explained: Collection[str]) -> Iterator[LikelyCause]:
    """Yields one finding for all settings that differ from the preset and have no other finding."""
    differ = [d for d in evidence.unlike_preset() if d.key not in explained]
    if evidence.reference.has_solved_runs and differ:
        preset_values = {d.key: d.reference_value for d in differ}
        name = "settings differ from the preset, whose stored runs solve the task"
        weight = 60.0 if differ[0].distance >= FAR else 30.0  # the largest difference is the first
        yield LikelyCause(name, weight, [str(d) for d in differ], preset_values)


_EXAMINATIONS: tuple[Callable[[Evidence], LikelyCause | None], ...] = (
    _small_budget,
    _dropped_updates,
    _lr_ends_early,
    _weights_decay,
    _short_horizon,
    _initial_noise,
)


def _late(values: Sequence[float]) -> float:
    """Returns the median of the last quarter of the values."""
    return median(values[-max(1, len(values) // 4) :])


def _rises(rows: Rows) -> bool:
    """Returns whether the training return rose, and had not fallen in the last quarter, by more than noise;
    True if there are too few rows to judge, unless they all have the same return."""
    rows = [row for row in rows if "episode/return" in row]
    part = len(rows) // 4
    if part < 2:
        return len(rows) < 2 or len({row["episode/return"] for row in rows}) > 1
    first, before, last = (
        fmean(row["episode/return"] for row in quarter)
        for quarter in (rows[:part], rows[-2 * part : -part], rows[-part:])
    )
    noise = return_noise(rows[-1])
    return last > first + noise and last > before - noise
