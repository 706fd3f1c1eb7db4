"""The known causes that can be looked for in a foreign run, and those ruled out by its missing metrics."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gymnast.foreign.run import ForeignRun
from gymnast.insight.causes import CAUSES
from gymnast.insight.foreign_record import NotChecked
from gymnast.insight.foreign_suspects import EXAMINATIONS
from gymnast.metrics.checks import CHECKS


def split_causes(run: ForeignRun, failed: bool) -> tuple[list[str], list[NotChecked]]:
    """Returns the causes that were looked for, and the others, with the metrics and hyperparameters that are
    missing. A cause is looked for if one of its alerts can be raised or, in a run that failed, by an
    examination of its rows."""
    keys, settings = run.keys, run.settings
    checked: list[str] = []
    not_checked: list[NotChecked] = []
    for cause in CAUSES:
        missing = [_missing(alert, keys, settings) for alert in cause.alerts]
        examined = failed and any(
            one.cause == cause.name and keys >= {*one.keys} for one in EXAMINATIONS
        )
        # without the hyperparameter, an examination finds the symptom and not the cause
        examined = examined and not _missing_settings(cause.alerts, settings)
        if examined or any(not one for one in missing):
            checked.append(cause.name)
        else:
            not_checked.append(NotChecked(cause.name, _names(missing, run)))
    return checked, not_checked


def _missing_settings(alerts: Sequence[str], settings: Collection[str]) -> bool:
    checks = [CHECKS[alert] for alert in alerts if alert in CHECKS]
    needed = {setting for check in checks for setting in check.required_settings}
    return bool(needed) and not needed & {*settings}


def _missing(alert: str, keys: Collection[str], settings: Collection[str]) -> list[str]:
    """Returns the metrics and settings without which this alert cannot be raised."""
    check = CHECKS.get(alert)
    # an alert without a check is raised by the range of its metric
    needed = (alert.rpartition(":")[0],) if check is None else check.required_keys
    needed_settings = () if check is None else check.required_settings
    return [key for key in needed if key not in keys] + [
        setting for setting in needed_settings if setting not in settings
    ]


def _names(missing: list[list[str]], run: ForeignRun) -> list[str]:
    """Returns what is missing for the alert of a cause that lacks the least, with the names of the run's
    library for settings."""
    fewest = min(missing, key=len)
    known = run.library.hyperparameters
    return [f"hyperparameter {known[name]}" if name in known else name for name in fewest]
