"""The diagnosis of a run (`gymnast doctor`): what went wrong, on what evidence, and what to change.

The outcome comes first: a run that ended below its threshold, or no better than random actions, is never
healthy. Then alerts are grouped into causes, and alerts that lasted longest count most. A failed run is also
examined for causes that are visible in its config and rows. If no cause matches, the diagnosis says so and
lists what is unusual. Only the files of the run, its preset and the stored results of that preset are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from gymnast.config.schedule import Schedule
from gymnast.insight import envelope
from gymnast.insight.causes import (
    CAUSES,
    ERROR,
    TOO_LARGE_STEPS,
    TOO_SMALL_STEPS,
    Finding,
    is_symptom,
)
from gymnast.insight.envelope import EnvelopeViolation
from gymnast.insight.outcome import RunOutcome, run_outcome
from gymnast.insight.reference import Reference, reference_for
from gymnast.insight.suspects import find_suspects
from gymnast.insight.unusual import unusual_facts
from gymnast.metrics.checks.allowed_changes import advisable_changes
from gymnast.metrics.checks.check import round_schedule
from gymnast.runs.curve import read_rows
from gymnast.runs.run import Run
from gymnast.text.formatting import count_noun

LASTING = 0.3
"""An alert that was active for this share of all rows has its full weight."""
CONSEQUENCE = 0.3
"""Factor on the weight of a finding whose settings solve the task in stored runs of the preset: it is
probably a consequence of another cause."""
UNNAMED = 26.0
"""Weight of an alert that no cause lists."""


@dataclass(frozen=True)
class Diagnosis:
    run: str
    preset: str
    outcome: RunOutcome
    healthy: bool | None
    """None if it is too early to say, or if nothing was measured."""
    findings: list[Finding]
    """The likeliest cause first. For a healthy run, problems that did no lasting harm."""
    unusual: list[str]
    """Unusual settings, metrics and curves; empty unless the run is not good enough."""
    notes: list[str]
    changes: dict[str, Any]
    """The patch: the changes of the first finding."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def diagnose(run: Run) -> Diagnosis:
    info = run.info | {"status": run.status}
    preset = info["preset"]
    return diagnose_rows(
        info,
        read_rows(run),
        run_settings(run),
        envelope.load_envelope(preset),
        reference_for(preset),
    )


def diagnose_rows(
    info: Mapping[str, Any],
    rows: Sequence[Mapping[str, float]],
    settings: Mapping[str, Any],
    healthy_envelope: Mapping[str, Any] | None,
    reference: Reference | None = None,
) -> Diagnosis:
    """Diagnoses a run. `info`: run.json; `rows`: its metrics; `healthy`: the envelope of its preset, if
    any."""
    reference = reference or Reference()
    outcome = run_outcome(info, rows)
    differs = envelope.find_violations(healthy_envelope, rows) if healthy_envelope and rows else []
    found = _from_alerts(info["alerts"], len(rows), differs, settings)
    found += _without_cause(info["alerts"])
    found = [_treated(finding, settings, reference) for finding in found]
    if outcome.kind == "failed":
        treated = {key for finding in found for key in finding.changes}
        suspected = find_suspects(settings, rows, reference, treated)
        found += [_treated(finding, settings, reference) for finding in suspected]
    findings = _merged(found)
    decisive = _decisive(findings, outcome)
    below = outcome.kind in ("failed", "unconfirmed")
    return Diagnosis(
        run=info["id"],
        preset=info["preset"],
        outcome=outcome,
        healthy=_healthy(outcome, decisive),
        findings=findings,
        unusual=unusual_facts(settings, rows, reference, differs, info["alerts"]) if below else [],
        notes=_timing(rows, settings),
        changes=decisive[0].changes if decisive else {},
    )


def _decisive(findings: Sequence[Finding], outcome: RunOutcome) -> list[Finding]:
    """Returns the findings that count against the run: if it was solved, only impossible values do."""
    min_weight = ERROR if outcome.kind == "solved" else 0.0
    return [
        f for f in findings if f.weight >= min_weight and (f.lasting or outcome.kind != "learned")
    ]


def _healthy(outcome: RunOutcome, decisive: Sequence[Finding]) -> bool | None:
    if outcome.kind in ("failed", "unconfirmed") or decisive:
        return False
    return True if outcome.kind in ("solved", "learned") else None


def _treated(finding: Finding, settings: Mapping[str, Any], reference: Reference) -> Finding:
    """Returns the finding with only the changes that advice may contain.

    If stored runs of the preset solve the task, the changes are replaced by the values of the preset; a
    setting that already has that value is not to blame, and the finding loses weight.
    """
    changes = advisable_changes(finding.changes, settings)
    if not (changes and reference.has_solved_runs):
        return replace(finding, changes=changes)
    usual = {key: reference.settings.get(key, value) for key, value in changes.items()}
    back = advisable_changes(usual, settings)
    weight = finding.weight if back or finding.weight >= ERROR else CONSEQUENCE * finding.weight
    return replace(finding, changes=back, weight=weight)


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """Merges findings of the same cause and sorts them, the likeliest first."""
    merged: dict[str, Finding] = {}
    for finding in sorted(found, key=lambda one: -one.weight):
        first = merged.get(finding.cause)
        if first is not None:
            finding = replace(first, evidence=[*first.evidence, *finding.evidence])
        merged[finding.cause] = finding
    return [*merged.values()]


def _from_alerts(
    alerts: Sequence[Mapping[str, Any]],
    rows: int,
    differs: Sequence[EnvelopeViolation],
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
        if cause.name in (TOO_LARGE_STEPS, TOO_SMALL_STEPS):
            changes = _learning_rate(differs, settings) or changes
        evidence = [f"{a['message']} ({_when(a)})" for a in mine]
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


def _without_cause(alerts: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Returns a finding for each alert that no cause lists and that is not a mere symptom."""
    known = {id for cause in CAUSES for id in cause.alerts}
    return [
        Finding(
            alert["message"],
            ERROR if alert["level"] == "error" else UNNAMED,
            [_when(alert)],
            dict(alert.get("changes", {})),
            [alert["id"]],
        )
        for alert in alerts
        if alert["id"] not in known and not is_symptom(alert["id"])
    ]


def _when(alert: Mapping[str, Any]) -> str:
    return f"{count_noun(alert['count'], 'row')}, first at {alert['first']:,} env steps"


def _learning_rate(
    differs: Sequence[EnvelopeViolation], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns a learning rate that makes updates as large as those of healthy runs, since the steps of Adam
    are proportional to it; empty if they are similar."""
    moved = next((d for d in differs if d.key == "optim/update_norm" and d.factor > 0), None)
    if moved is None or 0.3 < moved.factor < 3:
        return {}
    schedule = Schedule.parse(settings["algo.lr"])
    return {"algo.lr": round_schedule(schedule.scaled(1 / moved.factor)).to_plain()}


def _timing(rows: Sequence[Mapping[str, float]], settings: Mapping[str, Any]) -> list[str]:
    """Returns a note if more than half of the time was spent on one activity."""
    parts = ("env", "inference", "update", "evaluate_wait", "checkpoint", "rest")
    sums = {part: sum(row.get(f"time/{part}", 0.0) for row in rows) for part in parts}
    total = sum(sums.values())
    largest = max(sums, key=lambda part: sums[part])
    if total <= 0 or sums[largest] < 0.5 * total:
        return []
    repeated = next((k for k in ("algo.epochs", "algo.gradient_steps") if k in settings), None)
    fewer = f"fewer {repeated}, or " if repeated else ""
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


def run_settings(run: Run) -> dict[str, Any]:
    """Returns the config of a run as dotted key -> plain value."""
    from gymnast.config.serialize import flat_values

    return flat_values(run.config())


def differing_settings(run: Run, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that `gymnast train PRESET` needs to train the config of this run with these
    changes."""
    from gymnast.config.resolve import apply_overrides, diff, resolve

    config = run.config()
    patched, _ = apply_overrides(config, dict(changes))
    return {
        key: theirs
        for key, _, theirs in diff(resolve(run.info["preset"]).config, patched)
        if theirs is not None and key != "seed"
    }
