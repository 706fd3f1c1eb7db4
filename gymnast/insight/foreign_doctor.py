"""The diagnosis of a run that another program made: the same checks, as far as its metrics allow them.

Gymnast raises the alerts that it would have raised for these rows during training. Advice is given in the
hyperparameters of the library. Runs of gymnast are no reference: they have other settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import cast

from gymnast.foreign.run import ForeignRun
from gymnast.insight.causes import LikelyCause
from gymnast.insight.doctor import Diagnosis, ExaminedRun, diagnose_outcome
from gymnast.insight.foreign_checks import split_causes
from gymnast.insight.foreign_outcome import foreign_outcome
from gymnast.insight.foreign_record import ForeignDiagnosis
from gymnast.insight.foreign_suspects import foreign_suspects
from gymnast.insight.reference import Reference
from gymnast.runs.info import AlertInfo

_SETTING = re.compile(r"\b(?:algo|policy|normalize|env)\.[a-z_]+")


def diagnose_foreign(run: ForeignRun) -> Diagnosis:
    """Diagnoses a foreign run."""
    outcome, verdict, score_kind = foreign_outcome(run)
    alerts = replay_alerts(run)
    examined = ExaminedRun(run.id, run.env or run.library.title, alerts, run.rows, run.settings)
    failed = outcome.kind == "failed"
    suspects = foreign_suspects(run) if failed else []
    found = diagnose_outcome(examined, outcome, Reference(), suspects)
    by_id = {alert["id"]: alert for alert in alerts}
    checked, not_checked = split_causes(run, failed)
    known = {run.name_of(key): str(value) for key, value in run.learning_settings.items()}
    return replace(
        found,
        findings=[_in_words_of(run, finding, by_id) for finding in found.findings],
        unusual=[_translated(run, text) for text in found.unusual],
        notes=[*run.notes, *found.notes],
        changes={run.name_of(key): value for key, value in found.changes.items()},
        foreign=ForeignDiagnosis(
            format=run.format,
            library=run.library.title,
            files=list(run.files),
            env=run.env,
            env_steps=run.env_steps,
            rows=len(run.rows),
            verdict=verdict,
            score_kind=score_kind,
            checked=checked,
            not_checked=not_checked,
            hyperparameters=known,
            problems=list(run.problems),
        ),
    )


def replay_alerts(run: ForeignRun) -> list[AlertInfo]:
    """Returns the alerts that gymnast would have raised for the rows of a run."""
    from gymnast.config.plain_value import PlainValue
    from gymnast.config.sections import ALGORITHMS
    from gymnast.metrics.alerts import Alerts
    from gymnast.metrics.specs import METRICS, hyperparameter_metrics

    metrics = dict(METRICS)
    for algo, _ in ALGORITHMS.values():
        metrics |= {metric.name: metric for metric in hyperparameter_metrics(algo)}
    settings = dict(run.settings)
    if run.threshold is not None:
        settings["facts.threshold"] = run.threshold
    alerts = Alerts(metrics, cast("Mapping[str, PlainValue]", settings))
    for row in run.rows:
        alerts.check_row(row)
    return [cast(AlertInfo, asdict(alert)) for alert in alerts.all()]


def _in_words_of(
    run: ForeignRun, finding: LikelyCause, alerts: Mapping[str, AlertInfo]
) -> LikelyCause:
    """Returns the finding with the hyperparameters of the run's library."""
    changes = {run.name_of(key): value for key, value in finding.changes.items()}
    now = {run.name_of(key): run.settings.get(key) for key in finding.changes}
    if changes:
        tries = (f"{name}={value} (now {now[name]})" for name, value in changes.items())
        advice = f"try {', '.join(tries)}"
    else:
        texts = (alerts[id]["advice"] for id in finding.alerts if id in alerts)
        advice = _translated(run, finding.advice or next(filter(None, texts), ""))
    evidence = [_translated(run, text) for text in finding.evidence]
    return replace(finding, evidence=evidence, changes=changes, advice=advice)


def _translated(run: ForeignRun, text: str) -> str:
    """Returns a text with the library's names of settings instead of those of gymnast."""
    if "progress/share" not in run.keys:  # the budget is unknown
        text = text.replace("of the budget", "of the recorded steps")
    return _SETTING.sub(lambda found: run.name_of(found[0]), text)
