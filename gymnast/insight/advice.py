"""The one place that proposes values for settings: alerts, pages and reports only show what it returns.

A proposal starts from the value that the metrics of the run suggest, which also says whether the setting is
too large or too small. If stored runs of the preset solve the task, the preset's value is a better one,
provided that it lies in that direction: where a learning rate is too large, a preset with a larger one is no
remedy. Otherwise, the value of the preset or the default is proposed only if the suggested one is still at
least ten times as far off in the same direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from gymnast.config.plain_value import PlainValue
from gymnast.config.schedule import Schedule
from gymnast.insight.causes import ERROR, LikelyCause
from gymnast.insight.envelope import EnvelopeViolation
from gymnast.insight.reference import FAR, Difference, Reference
from gymnast.metrics.alert import split_scope
from gymnast.metrics.alerts import row_of_role
from gymnast.metrics.checks import KEYS, remedy_for
from gymnast.metrics.checks.allowed_changes import (
    advisable_changes,
    direction,
    role_key,
    role_settings,
)
from gymnast.metrics.checks.check import round_schedule
from gymnast.metrics.run_history import RunHistory
from gymnast.runs.info import AlertInfo

CONSEQUENCE = 0.3
"""Factor on the weight of a finding whose settings solve the task in stored runs of the preset: it is
probably a consequence of another cause."""
GROSS = 90.0
"""Weight of a cause that alerts show and whose setting is FAR from that of a preset that solves the task; a
small part of its own weight is added, which keeps the order of such causes."""
Settings = Mapping[str, object]
"""Dotted config key -> plain value."""


def propose(suggested: Settings, settings: Settings, reference: Reference) -> dict[str, object]:
    """Returns the advised changes of settings. `suggested`: the values that the metrics suggest; `settings`:
    those of the run. Settings that equal those of a preset that solves the task are left out."""
    values: dict[str, object] = {}
    for key, value in advisable_changes(suggested, settings).items():
        # A role's own setting is compared with the shared one, unless the reference has it too.
        known = [k for k in (key, key.partition(".set.")[2]) if k in reference.settings]
        values[key] = _value(known[0], value, settings[key], reference) if known else value
    return advisable_changes(values, settings)


def _value(key: str, suggested: object, now: object, reference: Reference) -> object:
    """Returns the value to propose for a setting. `key`: that of the reference's value."""
    usual, wanted = reference.settings[key], direction(now, suggested)
    if reference.has_solved_runs:
        return usual if usual == now or wanted in (0, direction(now, usual)) else suggested
    # The metrics of a broken run do not show how far off the setting is.
    stops_short = wanted != 0 and wanted == direction(suggested, usual)
    is_far = Difference(key, suggested, usual, reference.name).distance >= FAR
    return usual if stops_short and is_far else suggested


def with_proposal(finding: LikelyCause, settings: Settings, reference: Reference) -> LikelyCause:
    """Returns the finding with the advised changes in place of the suggested ones.

    If stored runs of the preset solve the task with the same settings, or with settings that are further from
    the advised ones, these are not to blame, and the finding loses weight. It gains weight if a setting is
    far from that of the preset."""
    changes = propose(finding.changes, settings, reference)
    compared = [
        key
        for key in advisable_changes(finding.changes, settings)
        if reference.has_solved_runs and key in reference.settings
    ]
    restored = [
        Difference(key, settings[key], reference.settings[key], reference.name)
        for key in compared
        if changes.get(key) == reference.settings[key]
    ]
    weight, evidence = finding.weight, list(finding.evidence)
    if compared and not restored and weight < ERROR:
        weight *= CONSEQUENCE
    elif finding.alerts and (far := [one for one in restored if one.distance >= FAR]):
        weight = max(weight, GROSS + 0.05 * weight)
        evidence += [f"{one}; stored runs of the preset solve the task" for one in far]
    return replace(finding, changes=changes, weight=weight, evidence=evidence)


def one_value_each(findings: Iterable[LikelyCause], settings: Settings) -> list[LikelyCause]:
    """Returns the findings, the likeliest first, with one value per setting: that of the first finding that
    changes it. A later one that would move it the other way does not change it."""
    values: dict[str, object] = {}
    results: list[LikelyCause] = []
    for finding in findings:
        changes = {
            key: values.setdefault(key, value)
            for key, value in finding.changes.items()
            if direction(settings.get(key), value)
            == direction(settings.get(key), values.get(key, value))
        }
        results.append(replace(finding, changes=changes))
    return results


def suggestions(
    alerts: Sequence[AlertInfo], rows: Sequence[Mapping[str, float]], settings: Settings
) -> dict[str, dict[str, object]]:
    """Returns alert id -> the changes that the rows up to the start of the alert suggest: later, the metrics
    of a broken run say less about the cause. The changes of a role's alert are those of its own settings, if
    it has any."""
    results: dict[str, dict[str, object]] = {}
    for role in dict.fromkeys(split_scope(alert["id"])[0] for alert in alerts):
        settings_of_role = role_settings(cast("Mapping[str, PlainValue]", settings), role)
        history, done = RunHistory(KEYS, settings_of_role), 0
        of_role = [alert for alert in alerts if split_scope(alert["id"])[0] == role]
        for alert in sorted(of_role, key=lambda alert: alert["first"]):
            while done < len(rows) and rows[done]["clock/env_steps"] <= alert["first"]:
                history.add_row(row_of_role(role, rows[done]) if role else rows[done])
                done += 1
            remedy = remedy_for(split_scope(alert["id"])[1], history)
            changes = {} if remedy is None else remedy.for_run(settings_of_role).changes
            results[alert["id"]] = {role_key(k, role, settings): v for k, v in changes.items()}
    return results


def usual_learning_rate(
    violations: Sequence[EnvelopeViolation], settings: Settings, *, too_large: bool
) -> dict[str, object]:
    """Returns a learning rate that makes updates as large as those of healthy runs, since the steps of Adam
    are proportional to it. Empty if they are similar, or if that would move it in the wrong direction.
    `too_large`: whether it is too large, and not too small."""
    # factor is NaN if it is unknown, for which both comparisons are False
    norm = next((v for v in violations if v.key == "optim/update_norm"), None)
    if norm is None or not (norm.factor >= 3 if too_large else 0 < norm.factor <= 0.3):
        return {}
    schedule = Schedule.parse(settings["algo.lr"])
    return {"algo.lr": round_schedule(schedule.scaled(1 / norm.factor)).to_plain()}
