"""Alerts: an impossible value is an error at once, an unhealthy one is a warning if it persists.

A plain threshold on single rows would raise a warning for more than half of the rows of a healthy run. So
short means are checked, only several bad rows in succession raise a warning, and some checks are skipped in
some phases: during warm-up, once the learning rate is annealed, once the task is solved.

Most alerts come from the bounds and the healthy range that a metric declares (`policy/kl:high`); the checks
in `checks/` combine several metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, TypedDict

from gymnast.config.plain_value import PlainValue
from gymnast.metrics.alert import Alert, split_scope
from gymnast.metrics.checks import CHECKS, KEYS, remedy_for
from gymnast.metrics.checks.allowed_changes import role_settings
from gymnast.metrics.checks.check import Check, Remedy
from gymnast.metrics.metric import Metric
from gymnast.metrics.ranges import KeyMonitor, MonitorState, RowMonitor
from gymnast.metrics.run_history import HistoryState, Phase, RunHistory
from gymnast.metrics.specs import metric_for_key


class AlertsState(TypedDict):
    """The state of the alerts that a checkpoint stores, as plain JSON."""

    ranges: dict[str, MonitorState]
    bad: dict[str, int]
    """Check id -> number of bad rows in succession."""
    seen: HistoryState
    alerts: list[dict[str, Any]]
    """The fields of each Alert."""
    roles: dict[str, AlertsState]


class Alerts:
    def __init__(
        self,
        metrics: Mapping[str, Metric],
        settings: Mapping[str, PlainValue] | None = None,
        roles: Collection[str] = (),
    ) -> None:
        """`settings`: dotted config key -> plain value, which advice is based on. `roles`: the checks are
        run for each role, on the metrics in its scope."""
        self._metrics, self._settings = metrics, settings or {}
        self._ranges: dict[str, KeyMonitor] = {}
        self._by_keys: dict[tuple[str, ...], tuple[RowMonitor, list[Check]]] = {}
        """Keys of a row -> the ranges and checks that apply to rows with these keys."""
        self._check_every_range = True
        """Whether a metric without a healthy range may have an active alert, so that the fast path, which
        skips such metrics, must not be taken."""
        self._bad_rows: dict[str, int] = {}
        """Check id -> number of bad rows in succession."""
        self._history = RunHistory(KEYS, self._settings)
        self._ready: set[str] = set()
        """Ids of the checks whose keys have all appeared in a row."""
        self._alerts: dict[str, Alert] = {}
        self._checks = {id: c for id, c in CHECKS.items() if is_applicable(c, metrics)}
        self._of_roles = {role: self._for_role(role) for role in roles}

    def check_row(self, row: Mapping[str, float]) -> list[Alert]:
        """Checks a row and returns the alerts that it raised or resolved. An alert that merely stays active
        is not returned."""
        self._history.add_row(row)
        keys, phases = tuple(row), self._history.phases()
        ranges, checks = self._by_keys.get(keys) or self._prepare(keys)
        changed = self._check_ranges(ranges, row, phases) + self._run_checks(checks, row, phases)
        for role, alerts in self._of_roles.items():
            changed += [
                _with_role(role, alert) for alert in alerts._check_role(row_of_role(role, row))
            ]
        return changed

    def _for_role(self, role: str) -> Alerts:
        return Alerts(self._metrics, role_settings(self._settings, role))

    def _check_role(self, row: Mapping[str, float]) -> list[Alert]:
        """Runs the checks for one role on `row`, its metrics without scope (see `row_of_role`), and returns
        the alerts that this raised or resolved. Ranges are not checked here, but with the row of all
        roles."""
        self._history.add_row(row)
        _, checks = self._by_keys.get(keys := tuple(row)) or self._prepare(keys)
        per_role = [check for check in checks if check.per_role]
        return self._run_checks(per_role, row, self._history.phases())

    def _check_ranges(
        self, ranges: RowMonitor, row: Mapping[str, float], phases: set[Phase]
    ) -> list[Alert]:
        """Compares every value of a row with its bounds, and with its healthy range if it has one. Returns
        the alerts that this raised or resolved. `ranges`: the monitors of the row's keys; `phases`: the
        current phases of training, in which some healthy ranges are not checked."""
        env_steps, values = int(row.get("clock/env_steps", 0)), [*row.values()]
        changed: list[Alert] = []
        # If all values are within their bounds, which two fast comparisons of lists find out, only the
        # metrics with a healthy range need a closer look.
        if self._check_every_range or not ranges.within_bounds(values):
            for (key, span), value in zip(ranges.monitors, values, strict=True):
                kind = span.check(value, phases)
                if kind or span.alerting:
                    changed += self._update(key, span, kind, value, env_steps)
            self._check_every_range = any(
                span.alerting for span in self._ranges.values() if span.bounds_only
            )
        else:
            for place, key, span in ranges.monitored:
                kind = span.check_healthy(values[place], phases)
                if kind or span.alerting:
                    changed += self._update(key, span, kind, values[place], env_steps)
        return changed

    def _run_checks(
        self, checks: Sequence[Check], row: Mapping[str, float], phases: set[Phase]
    ) -> list[Alert]:
        """Runs those of `checks` whose keys have all appeared in some row so far, and returns the alerts that
        this raised or resolved. `row` is only used for its env steps: the checks read the history, to which
        the row was already added."""
        env_steps, changed = int(row.get("clock/env_steps", 0)), list[Alert]()
        for check in checks:
            if check.id in self._ready or self._is_ready(check):
                changed += self._run_check(check, phases, env_steps)
        return changed

    def replace_metrics(
        self, metrics: Mapping[str, Metric], settings: Mapping[str, PlainValue] | None = None
    ) -> None:
        """Uses these metrics (for their bounds) and settings from now on; the history and active alerts are
        kept. `settings`: None keeps the present ones."""
        # Monitors hold bounds of their own, so they are built again and get their state back.
        state, self._metrics = self.state(), metrics
        self._settings = self._settings if settings is None else settings
        self._of_roles = {role: self._for_role(role) for role in self._of_roles}
        self.load(state)

    def all(self) -> list[Alert]:
        """Returns every alert of the run, active or resolved, of all roles, sorted by id."""
        alerts_of_run = list(self._alerts.values())
        for role, alerts in self._of_roles.items():
            alerts_of_run += [_with_role(role, alert) for alert in alerts.all()]
        return sorted(alerts_of_run, key=lambda alert: alert.id)

    def active(self) -> list[Alert]:
        """Returns the active alerts, errors first."""
        return sorted((a for a in self.all() if a.active), key=lambda a: a.level)

    def state(self) -> AlertsState:
        """Returns, as plain JSON, all that a resumed run needs to continue exactly as if it had not
        stopped."""
        return {
            "ranges": {key: span.state() for key, span in self._ranges.items()},
            "bad": dict(self._bad_rows),
            "seen": self._history.state(),
            "alerts": [asdict(self._alerts[id]) for id in sorted(self._alerts)],
            "roles": {role: alerts.state() for role, alerts in self._of_roles.items()},
        }

    def load(self, state: AlertsState) -> None:
        """Restores a state from `state()`. Bounds and settings are not part of it: the present ones are
        used."""
        self._alerts = {alert["id"]: Alert.from_stored(alert) for alert in state["alerts"]}
        self._bad_rows = dict(state["bad"])
        for role, alerts in self._of_roles.items():
            alerts.load(state["roles"][role])
        self._history = RunHistory(KEYS, self._settings)
        self._history.load(state["seen"])
        self._ranges, self._by_keys, self._check_every_range = {}, {}, True
        self._ready = set()
        for key, saved in state["ranges"].items():
            self._ranges[key] = KeyMonitor(metric_for_key(key, self._metrics))
            self._ranges[key].load(saved)

    def _prepare(self, keys: tuple[str, ...]) -> tuple[RowMonitor, list[Check]]:
        """Returns the ranges and checks for rows with exactly these keys, and stores them for the next such
        row."""
        for key in keys:
            if key not in self._ranges:
                self._ranges[key] = KeyMonitor(metric_for_key(key, self._metrics))
        # A check runs for rows with its first key only, so that bad rows count once per new value.
        checks = [check for check in self._checks.values() if check.required_keys[0] in keys]
        self._by_keys[keys] = RowMonitor({key: self._ranges[key] for key in keys}), checks
        return self._by_keys[keys]

    def _is_ready(self, check: Check) -> bool:
        """Returns whether every key of a check has appeared in some row. Once this is true, `_ready`
        remembers it."""
        if self._history.has(*check.required_keys):
            self._ready.add(check.id)
        return check.id in self._ready

    def _run_check(self, check: Check, phases: set[Phase], env_steps: int) -> Sequence[Alert]:
        """Runs one check on the history. Returns a list with its alert if this raised or resolved it, else an
        empty sequence. In a phase that the check skips, it counts as fine."""
        skipped = phases and not check.skipped_phases.isdisjoint(phases)
        message = None if skipped else check.find_problem(self._history)
        before = self._alerts.get(check.id)
        if message is None and before is None:
            self._bad_rows[check.id] = 0
            return ()
        bad_rows = 0 if message is None else self._bad_rows.get(check.id, 0) + 1
        self._bad_rows[check.id] = bad_rows
        if message is not None and bad_rows >= check.patience:

            def advice() -> str:
                return check.remedy(self._history).for_run(self._settings).text(self._settings)

            alert = self._raised(check.id, "warning", message, advice, env_steps)
            return [] if before is not None and before.active else [alert]
        if before is not None and before.active:
            return [self._resolved(check.id)]
        return []

    def _update(
        self, key: str, span: KeyMonitor, kind: str, value: float, env_steps: int
    ) -> list[Alert]:
        """Raises, continues or resolves the alert of one key, and returns the alerts that were raised or
        resolved. `kind`: what is wrong with `value` (nan, impossible, low, high), empty if it is fine;
        `span`: the monitor of the key, whose `alerting` becomes `kind`."""
        changed: list[Alert] = []
        if span.alerting and span.alerting != kind:
            changed.append(self._resolved(f"{key}:{span.alerting}"))
        if kind:
            id = f"{key}:{kind}"
            level = "error" if kind in ("nan", "impossible") else "warning"

            def advice() -> str:
                # The general advice of the metric, unless there is a change of settings for this run.
                role, id_of_role = split_scope(id)
                alerts = self._of_roles.get(role, self)
                remedy = remedy_for(id_of_role, alerts._history)
                advised = remedy.for_run(alerts._settings) if remedy else Remedy("")
                return advised.text(alerts._settings) if advised.changes else span.advice(kind)

            alert = self._raised(id, level, span.message(key, kind, value), advice, env_steps)
            if span.alerting != kind:
                changed.append(alert)
        span.alerting = kind
        return changed

    def _raised(
        self,
        id: str,
        level: Literal["error", "warning"],
        message: str,
        advice: Callable[[], str],
        env_steps: int,
    ) -> Alert:
        """Stores and returns the alert `id` with one more bad row, at `env_steps`. `advice` is called only if
        the alert was not active before; otherwise its advice is kept."""
        before = self._alerts.get(id)
        # keep the advice of the first row: later the metrics of a broken run say less about the cause
        kept = before.advice if before is not None and before.active else None
        alert = Alert(
            id=id,
            level=level,
            message=message,
            advice=advice() if kept is None else kept,
            first=before.first if before else env_steps,
            last=env_steps,
            count=before.count + 1 if before else 1,
            active=True,
        )
        self._alerts[id] = alert
        return alert

    def _resolved(self, id: str) -> Alert:
        """Marks the stored alert as no longer active, and returns it."""
        self._alerts[id] = replace(self._alerts[id], active=False)
        return self._alerts[id]


def row_of_role(role: str, row: Mapping[str, float]) -> dict[str, float]:
    """Returns the keys that checks need from the row of all roles as if this role were the only one:
    `seeker:policy/kl` becomes `policy/kl`. Keys without a scope, such as clocks, are kept."""
    scope = f"{role}:"
    shared = {key: value for key, value in row.items() if ":" not in key or key in KEYS}
    return shared | {key: row[scope + key] for key in KEYS if scope + key in row}


def _with_role(role: str, alert: Alert) -> Alert:
    return replace(alert, id=f"{role}:{alert.id}", message=f"{role}: {alert.message}")


def is_applicable(check: Check, metrics: Mapping[str, Metric]) -> bool:
    """True if a run with these metrics reports every metric that the check needs."""
    return all(key.rpartition(":")[2] in metrics for key in check.required_keys)
