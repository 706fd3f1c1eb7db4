"""The diagnosis of a run (`gymnast doctor`): what went wrong, on what evidence, and what to change.

The outcome comes first: a run that ended below its threshold, or no better than it started, is never
healthy. Then alerts are grouped into causes, and alerts that lasted longest count most. A run that is not
good enough is also examined for causes that are visible in its config and rows. If no cause matches, the
diagnosis says so and lists what is unusual. Only the files of the run, its preset and the stored results of
that preset are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gymnast.insight import envelope
from gymnast.insight.advice import (
    one_value_each,
    suggestions,
    usual_learning_rate,
    with_proposal,
)
from gymnast.insight.causes import (
    CAUSES,
    ERROR,
    TOO_LARGE_STEPS,
    TOO_SMALL_STEPS,
    LikelyCause,
    is_symptom,
)
from gymnast.insight.envelope import EnvelopeViolation
from gymnast.insight.foreign_record import ForeignDiagnosis
from gymnast.insight.outcome import RunOutcome, run_outcome
from gymnast.insight.reference import Reference, reference_for
from gymnast.insight.suspects import find_suspects
from gymnast.insight.unusual import unusual_facts
from gymnast.metrics.alert import split_scope
from gymnast.runs.curve import read_rows
from gymnast.runs.info import AlertInfo, RunInfo
from gymnast.runs.run import Run
from gymnast.text.formatting import count_noun

LASTING = 0.3
"""An alert that was active for this share of all rows has its full weight."""
GOOD, NOT_JUDGED = ("solved", "learned"), ("early", "unknown")
"""Kinds of outcomes that are good enough, and those of runs that have not ended or were not measured."""
UNNAMED = 26.0
"""Weight of an alert that no cause lists."""


@dataclass(frozen=True)
class Diagnosis:
    run: str
    preset: str
    outcome: RunOutcome
    healthy: bool | None
    """None if it is too early to say, or if nothing was measured."""
    findings: list[LikelyCause]
    """The likeliest cause first. For a healthy run, problems that did no lasting harm."""
    unusual: list[str]
    """Unusual settings, metrics and curves; empty unless the run is not good enough."""
    notes: list[str]
    changes: Mapping[str, object]
    """The patch: the changes of the first finding that has any, dotted config key -> value. For a foreign
    run, the hyperparameters of its library -> value."""
    foreign: ForeignDiagnosis | None = None
    """The part that applies only to a run of another program; None for a run of gymnast."""


def diagnose(run: Run) -> Diagnosis:
    """Diagnoses a stored run from its files."""
    info = run.info
    info["status"] = run.status
    preset = info["preset"]
    return diagnose_rows(
        info,
        read_rows(run),
        run_settings(run),
        envelope.load_envelope(preset),
        reference_for(preset),
    )


def diagnose_rows(
    info: RunInfo,
    rows: Sequence[Mapping[str, float]],
    settings: Mapping[str, object],
    healthy_envelope: envelope.Envelope | None,
    reference: Reference | None = None,
) -> Diagnosis:
    """Diagnoses a run. `info`: run.json with the derived status; `rows`: its metrics; `settings`:
    dotted config key -> plain value; `healthy_envelope`: the envelope of its preset, if any;
    `reference`: the settings and stored results of its preset."""
    # 1. How did it end, and which metrics differ from those of healthy runs?
    violations = (
        envelope.find_violations(healthy_envelope, rows) if healthy_envelope and rows else []
    )
    examined = ExaminedRun(info["id"], info["preset"], info["alerts"], rows, settings, violations)
    return diagnose_outcome(examined, run_outcome(info, rows), reference or Reference())


@dataclass(frozen=True)
class ExaminedRun:
    """The parts of a run in which the causes of its outcome are looked for."""

    id: str
    preset: str
    alerts: Sequence[AlertInfo]
    rows: Sequence[Mapping[str, float]]
    settings: Mapping[str, object]
    """Dotted config key -> plain value; of a run that gymnast did not make, only the known ones."""
    violations: Sequence[EnvelopeViolation] = ()
    """Metrics that are outside the envelope of healthy runs."""


def diagnose_outcome(
    run: ExaminedRun,
    outcome: RunOutcome,
    reference: Reference,
    suspects: Sequence[LikelyCause] = (),
) -> Diagnosis:
    """Returns the diagnosis of a run with this outcome. `suspects`: causes that were found otherwise than by
    alerts."""
    alerts, rows, settings, violations = run.alerts, run.rows, run.settings, run.violations
    not_good_enough = outcome.kind not in (*GOOD, *NOT_JUDGED)
    # 2. Which causes explain the alerts, and (only if it is not good enough) which settings are suspect
    # without one?
    findings = _from_alerts(run)
    findings += [*_without_cause(alerts), *suspects]
    findings = [with_proposal(finding, settings, reference) for finding in findings]
    if not_good_enough:
        already_changed = {key for finding in findings for key in finding.changes}
        suspects = find_suspects(settings, rows, reference, already_changed)
        findings += [with_proposal(finding, settings, reference) for finding in suspects]
    # 3. Rank them, and decide whether they count against the run.
    findings = one_value_each(_merged(findings), settings)
    decisive = _decisive(findings, outcome)
    return Diagnosis(
        run=run.id,
        preset=run.preset,
        outcome=outcome,
        healthy=False if not_good_enough or decisive else True if outcome.kind in GOOD else None,
        findings=findings,
        unusual=unusual_facts(settings, rows, reference, violations, alerts)
        if not_good_enough
        else [],
        notes=_timing(rows, settings),
        changes=next((finding.changes for finding in decisive if finding.changes), {}),
    )


def _decisive(findings: Sequence[LikelyCause], outcome: RunOutcome) -> list[LikelyCause]:
    """Returns the findings that count against the run: if it was solved, only impossible values do."""
    min_weight = ERROR if outcome.kind == "solved" else 0.0
    return [
        f for f in findings if f.weight >= min_weight and (f.lasting or outcome.kind != "learned")
    ]


def _merged(findings: Sequence[LikelyCause]) -> list[LikelyCause]:
    """Merges findings of the same cause and sorts them, the likeliest first."""
    merged: dict[str, LikelyCause] = {}
    for finding in sorted(findings, key=lambda one: -one.weight):
        # The heavier finding keeps its changes; the lighter one only adds its evidence and its alerts.
        first = merged.get(finding.cause)
        if first is not None:
            evidence, alerts = first.evidence + finding.evidence, first.alerts + finding.alerts
            finding = replace(first, evidence=evidence, alerts=alerts)
        merged[finding.cause] = finding
    return [*merged.values()]


def _from_alerts(run: ExaminedRun) -> list[LikelyCause]:
    """Returns a finding for each cause that has an active or past alert, of any role, with the changes that
    the metrics suggest."""
    suggested = suggestions(run.alerts, run.rows, run.settings)
    findings: list[LikelyCause] = []
    for cause in CAUSES:
        raised = [a for id in cause.alerts for a in run.alerts if split_scope(a["id"])[1] == id]
        if not raised:
            continue
        # A brief alert has half of the weight, one that lasted for 30 % of the rows all of it.
        lasting = min(1.0, max(a["count"] for a in raised) / max(len(run.rows) * LASTING, 1.0))
        changes: dict[str, object] = {}
        for alert in raised:  # the first alert that names a key wins
            changes = {**suggested[alert["id"]], **changes}
        if cause.name in (TOO_LARGE_STEPS, TOO_SMALL_STEPS):
            too_large = cause.name == TOO_LARGE_STEPS
            usual = usual_learning_rate(run.violations, run.settings, too_large=too_large)
            changes = usual or changes
        findings.append(
            LikelyCause(
                cause.name,
                cause.weight * (0.5 + 0.5 * lasting),
                [f"{a['message']} ({_when(a)})" for a in raised],
                changes,
                [a["id"] for a in raised],
                lasting >= 1.0,
            )
        )
    return findings


def _without_cause(alerts: Sequence[AlertInfo]) -> list[LikelyCause]:
    """Returns a finding for each alert that no cause lists and that is not a mere symptom."""
    known = {id for cause in CAUSES for id in cause.alerts}
    return [
        LikelyCause(
            alert["message"],
            ERROR if alert["level"] == "error" else UNNAMED,
            [_when(alert)],
            alerts=[alert["id"]],
        )
        for alert in alerts
        if split_scope(alert["id"])[1] not in known and not is_symptom(alert["id"])
    ]


def _when(alert: AlertInfo) -> str:
    return f"{count_noun(alert['count'], 'row')}, first at {alert['first']:,} env steps"


def _timing(rows: Sequence[Mapping[str, float]], settings: Mapping[str, object]) -> list[str]:
    """Returns a note if more than half of the time was spent on one activity."""
    parts = ("env", "inference", "update", "evaluate_wait", "checkpoint", "rest")
    sums = {part: sum(row.get(f"time/{part}", 0.0) for row in rows) for part in parts}
    total = sum(sums.values())
    largest = max(sums, key=lambda part: sums[part])
    if total <= 0 or sums[largest] < 0.5 * total:
        return []
    repeats = next((k for k in ("algo.epochs", "algo.gradient_steps") if k in settings), None)
    fewer = f"fewer {repeats}, or " if repeats else ""
    labels = {
        "env": "environment steps",
        "inference": "policy inference",
        "update": "updates",
        "evaluate_wait": "waiting for evaluations",
        "checkpoint": "checkpoints",
        "rest": "other work",
    }
    hints = {
        "env": "`gymnast tune envs` finds a faster backend or number of environment copies",
        "update": f"{fewer}a smaller policy.hidden would be faster",
        "evaluate_wait": "a longer eval.every, or fewer eval.episodes, would be faster",
    }
    hint = f": {hints[largest]}" if largest in hints else ""
    return [f"{sums[largest] / total:.0%} of the time was spent on {labels[largest]}{hint}"]


def run_settings(run: Run) -> Mapping[str, object]:
    """Returns the config of a run as dotted key -> plain value."""
    from gymnast.config.serialize import flat_values

    return flat_values(run.config())


def differing_settings(run: Run, changes: Mapping[str, object]) -> dict[str, object]:
    """Returns the settings that `gymnast train PRESET` needs to train the config of this run with these
    changes."""
    from gymnast.config.resolve import apply_overrides, diff, resolve

    config = run.trusted_config()
    patched, _ = apply_overrides(config, dict(changes))
    return {
        key: theirs
        for key, _, theirs in diff(resolve(run.info["preset"]).config, patched)
        if theirs is not None and key != "seed"
    }
