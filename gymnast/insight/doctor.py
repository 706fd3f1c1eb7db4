"""What went wrong with a run, on what evidence, and what to change.

Alerts are symptoms; a cause gathers those that it brings about. Causes that show directly (actions
without effect, a critic without gradient) outweigh those that anything may bring about (a return that
stalls). What held longest counts most. Only the run's own record is read, and what healthy runs of the
same preset did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gymnast.config.schedule import Schedule
from gymnast.insight import envelope
from gymnast.insight.envelope import Departure
from gymnast.metrics.checks.check import rounded
from gymnast.runs.curve import rows_of
from gymnast.runs.run import Run

LASTING = 0.3
"""Of all rows: an alert that held for so many has its full weight."""
TELLING = 25.0
"""Weight from which a finding is a trouble and not a note."""


@dataclass(frozen=True)
class Cause:
    name: str
    weight: float
    alerts: tuple[str, ...]


CAUSES = (
    Cause("the environment ignores the actions", 100, ("rollout/action_effect:none",)),
    Cause("what is learned from opposes the reward", 98, ("rollout/reward_agreement:opposed",)),
    Cause("the critic does not learn", 92, ("optim/grad_norm_critic:frozen",)),
    Cause("units of the network are dead", 88, ("network/dead_units:high",)),
    Cause(
        "observations are not normalised",
        86,
        ("rollout/obs_std:large", "policy/entropy_share:biased"),
    ),
    Cause(
        "rewards are too large",
        84,
        ("value/target_std:large", "optim/grad_norm:high"),
    ),
    Cause("units of the network are saturated", 64, ("network/saturated_units:high",)),
    Cause("the critic's gradient drowns the actor's", 62, ("optim/grad_norm_critic:dominates",)),
    Cause("an update sees too few steps", 82, ("advantage/std:few",)),
    Cause("gamma looks too short a way ahead", 80, ("episode/length:shortsighted",)),
    Cause("the learning rate is too small", 76, ("policy/kl:frozen",)),
    Cause(
        "the learning rate is too large",
        74,
        (
            "policy/kl:high",
            "optim/update_share:high",
            "optim/undone:high",
            "policy/clip_fraction:high",
            "policy/ratio_max:high",
            "policy/ratio_mean:high",
            "policy/ratio_mean:low",
            "optim/epochs:cut",
        ),
    ),
    Cause("the entropy bonus is too large", 72, ("policy/entropy_share:undecided",)),
    Cause(
        "the policy stopped exploring too soon",
        70,
        (
            "policy/entropy_share:early",
            "policy/entropy_share:low",
            "network/logit_range:high",
            "policy/log_std:low",
        ),
    ),
    Cause("actions are mostly noise", 60, ("policy/log_std:high",)),
    Cause("copies of the environment break", 58, ("rollout/faults:high",)),
    Cause("copies of the environment are alike", 50, ("rollout/diversity:low",)),
    Cause("the critic misleads", 40, ("value/explained_variance:low",)),
    Cause("what was learned is lost again", 34, ("episode/return:falls",)),
    Cause("evaluation differs from training", 30, ("eval:episode/return:behind",)),
    Cause("it does not get better", 24, ("episode/return:stalled",)),
    Cause("the machine was slow", 12, ("speed/env_steps:dropped",)),
    Cause("evaluation holds it up", 12, ("time/evaluate_wait:long",)),
)
LEARNING_RATE = ("the learning rate is too large", "the learning rate is too small")


@dataclass(frozen=True)
class Finding:
    cause: str
    weight: float
    evidence: list[str] = field(default_factory=list[str])
    changes: dict[str, Any] = field(default_factory=dict[str, Any])
    """Dotted key -> value."""
    alerts: list[str] = field(default_factory=list[str])
    lasting: bool = True
    """Did it hold for a good part of the run?"""


@dataclass(frozen=True)
class Diagnosis:
    run: str
    preset: str
    healthy: bool
    findings: list[Finding]
    """The likeliest cause first."""
    notes: list[str]
    changes: dict[str, Any]
    """The patch: what the first finding that can be treated advises."""

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def diagnose(run: Run) -> Diagnosis:
    info = run.info
    return diagnosis(info, rows_of(run), settings_of(run), envelope.stored(info["preset"]))


def diagnosis(
    info: Mapping[str, Any],
    rows: Sequence[Mapping[str, float]],
    settings: Mapping[str, Any],
    healthy: Mapping[str, Any] | None,
) -> Diagnosis:
    """`info`: run.json; `rows`: its record; `healthy`: the envelope of its preset, if there is one."""
    differs = envelope.departures(healthy, rows) if healthy and rows else []
    found = _from_alerts(info["alerts"], len(rows), differs, settings)
    found += _told_otherwise(info["alerts"])
    findings = sorted(found, key=lambda finding: -finding.weight)
    solved = info.get("solved") is True  # what passed on the way there did no harm
    telling = [f for f in findings if f.weight >= TELLING and (f.lasting or not solved)]
    treatable = next((f.changes for f in telling if f.changes), {})
    return Diagnosis(
        run=info["id"],
        preset=info["preset"],
        healthy=not telling,
        findings=findings,
        notes=[*(str(d) for d in differs), *_timing(rows)],
        changes=treatable,
    )


def _from_alerts(
    alerts: Sequence[Mapping[str, Any]],
    rows: int,
    differs: Sequence[Departure],
    settings: Mapping[str, Any],
) -> list[Finding]:
    raised = {alert["id"]: alert for alert in alerts}
    found: list[Finding] = []
    for cause in CAUSES:
        mine = [raised[id] for id in cause.alerts if id in raised]
        if not mine:
            continue
        lasting = min(1.0, max(a["count"] for a in mine) / max(rows * LASTING, 1.0))
        changes: dict[str, Any] = {}
        for alert in mine:
            changes = {**alert.get("changes", {}), **changes}
        if cause.name in LEARNING_RATE:
            changes = _learning_rate(differs, settings) or changes
        evidence = [f"{a['message']} ({a['count']} rows from {a['first']:,} on)" for a in mine]
        found.append(
            Finding(
                cause.name,
                cause.weight * (0.5 + 0.5 * lasting),
                evidence,
                changes,
                [a["id"] for a in mine],
                lasting >= 1.0,
            )
        )
    return found


def _told_otherwise(alerts: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Alerts that no cause names: what is impossible or not a number, and healthy ranges left."""
    known = {id for cause in CAUSES for id in cause.alerts}
    return [
        Finding(
            alert["message"],
            110.0 if alert["level"] == "error" else 26.0,
            [f"{alert['count']} rows from {alert['first']:,} env steps on"],
            dict(alert.get("changes", {})),
            [alert["id"]],
        )
        for alert in alerts
        if alert["id"] not in known
    ]


def _learning_rate(differs: Sequence[Departure], settings: Mapping[str, Any]) -> dict[str, Any]:
    """By how far updates moved the parameters beside those of healthy runs: Adam's steps are
    proportional to the rate."""
    moved = next((d for d in differs if d.key == "optim/update_norm" and d.factor > 0), None)
    if moved is None or 0.3 < moved.factor < 3:
        return {}
    schedule = Schedule.parse(settings["algo.lr"])
    return {"algo.lr": rounded(schedule.scaled(1 / moved.factor)).plain()}


def _timing(rows: Sequence[Mapping[str, float]]) -> list[str]:
    """Where the time went, if most of it went to one thing."""
    parts = ("env", "inference", "update", "evaluate_wait", "checkpoint", "rest")
    sums = {part: sum(row.get(f"time/{part}", 0.0) for row in rows) for part in parts}
    total = sum(sums.values())
    largest = max(sums, key=lambda part: sums[part])
    if total <= 0 or sums[largest] < 0.5 * total:
        return []
    hints = {
        "env": "`gymnast tune envs` finds a faster backend or number of copies",
        "update": "fewer algo.epochs, or a smaller policy.hidden, would be faster",
        "evaluate_wait": "a longer eval.every, or fewer eval.episodes, would be faster",
    }
    hint = f": {hints[largest]}" if largest in hints else ""
    return [f"{sums[largest] / total:.0%} of the time went to {largest}{hint}"]


def settings_of(run: Run) -> dict[str, Any]:
    """Dotted key -> plain value."""
    from gymnast.config.resolve import load
    from gymnast.config.saved import values

    return values(load(run.config(), at=str(run.path / "config.yaml")))


def differing_settings(run: Run, changes: Mapping[str, Any]) -> dict[str, Any]:
    """What `gymnast train PRESET` must be told to train this run's config with these changes."""
    from gymnast.config.resolve import diff, load, resolve, revise

    config = load(run.config(), at=str(run.path / "config.yaml"))
    patched, _ = revise(config, dict(changes))
    return {
        key: theirs
        for key, _, theirs in diff(resolve(run.info["preset"]).config, patched)
        if theirs is not None and key != "seed"
    }
