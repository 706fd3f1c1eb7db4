"""Judging rows: what is impossible is an error at once, what is unhealthy a warning when it lasts.

A bare threshold cries on more than half of the rows of a healthy run, so short means are judged, only
several bad rows in a row raise, and some things are excused in some phases: while it warms up, once
the learning rate has been annealed, once it is solved.

Most alerts come from the range that a metric declares (`policy/kl:high`); `checks/` add those that
several numbers tell together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from gymnast.metrics.checks import CHECKS, KEYS, REMEDIES
from gymnast.metrics.checks.check import Check, Remedy
from gymnast.metrics.metric import Metric
from gymnast.metrics.ranges import Range, Ranges
from gymnast.metrics.seen import Phase, RunHistory
from gymnast.metrics.specs import spec


@dataclass(frozen=True)
class Alert:
    id: str
    """`policy/kl:high`: a row's key and what is wrong with it."""
    level: Literal["error", "warning"]
    message: str
    advice: str
    first: int
    """Env steps at which it was first raised."""
    last: int
    """Env steps of the latest row it held for."""
    count: int
    """Rows it held for."""
    active: bool
    changes: dict[str, Any] = field(default_factory=dict[str, Any])
    """Dotted key -> value of the settings that are advised."""

    @property
    def key(self) -> str:
        """The key of the row that it is about."""
        return self.id.rpartition(":")[0]


class Alerts:
    def __init__(
        self,
        metrics: Mapping[str, Metric],
        settings: Mapping[str, Any] | None = None,
        roles: Collection[str] = (),
    ) -> None:
        """`settings`: dotted key -> plain value, which advice is made from; `roles`: what several numbers
        tell together is told of each, by the numbers in its scope."""
        self._metrics, self._settings = metrics, settings or {}
        self._ranges: dict[str, Range] = {}
        self._together: dict[tuple[str, ...], tuple[Ranges, list[Check]]] = {}
        """Keys of a row -> how to judge it."""
        self._doubtful = True
        """Whether a range may hold an alert though only its bounds matter."""
        self._bad: dict[str, int] = {}
        """Check id -> rows in a row that were bad."""
        self._seen = RunHistory(KEYS, self._settings)
        self._ready: set[str] = set()
        """Ids of checks all of whose keys have been seen."""
        self._alerts: dict[str, Alert] = {}
        self._checks = {id: c for id, c in CHECKS.items() if spec_is_known(c, metrics)}
        self._of_roles = {role: Alerts(metrics, settings) for role in roles}

    def judge(self, row: Mapping[str, float]) -> list[Alert]:
        """Takes the row in; returns the alerts that it raised or resolved."""
        self._seen.take(row)
        keys, phases = tuple(row), self._seen.phases()
        ranges, checks = self._together.get(keys) or self._put_together(keys)
        changed = self._judge_ranges(ranges, row, phases) + self._judge(checks, row, phases)
        for role, alerts in self._of_roles.items():
            changed += [_of_role(role, alert) for alert in alerts._judge_alone(_told_of(role, row))]
        return changed

    def _judge_alone(self, row: Mapping[str, float]) -> list[Alert]:
        """By checks, of a role; its ranges are judged in the row of all roles."""
        self._seen.take(row)
        _, checks = self._together.get(keys := tuple(row)) or self._put_together(keys)
        of_roles = [check for check in checks if check.of_roles]
        return self._judge(of_roles, row, self._seen.phases())

    def _judge_ranges(
        self, ranges: Ranges, row: Mapping[str, float], phases: set[Phase]
    ) -> list[Alert]:
        env_steps, values = int(row.get("clock/env_steps", 0)), [*row.values()]
        changed: list[Alert] = []
        if self._doubtful or not ranges.allow(values):
            for (key, span), value in zip(ranges.every, values, strict=True):
                kind = span.judge(value, phases)
                if kind or span.alerting:
                    changed += self._turn(key, span, kind, value, env_steps)
            self._doubtful = any(span.alerting for span in self._ranges.values() if span.idle)
        else:
            for place, key, span in ranges.watched:
                kind = span.watch(values[place], phases)
                if kind or span.alerting:
                    changed += self._turn(key, span, kind, values[place], env_steps)
        return changed

    def _judge(
        self, checks: Sequence[Check], row: Mapping[str, float], phases: set[Phase]
    ) -> list[Alert]:
        env_steps, changed = int(row.get("clock/env_steps", 0)), list[Alert]()
        for check in checks:
            if check.id in self._ready or self._has_what_it_needs(check):
                changed += self._look(check, phases, env_steps)
        return changed

    def redeclare(
        self, metrics: Mapping[str, Metric], settings: Mapping[str, Any] | None = None
    ) -> None:
        """Judge by these bounds and advise from these settings from now on; what was seen stays."""
        seen, self._metrics = self.state(), metrics
        self._settings = self._settings if settings is None else settings
        self._of_roles = {role: Alerts(metrics, self._settings) for role in self._of_roles}
        self.load(seen)

    def all(self) -> list[Alert]:
        """Every alert of the run, by id."""
        found = list(self._alerts.values())
        for role, alerts in self._of_roles.items():
            found += [_of_role(role, alert) for alert in alerts.all()]
        return sorted(found, key=lambda alert: alert.id)

    def active(self) -> list[Alert]:
        """What holds now, errors first."""
        return sorted((a for a in self.all() if a.active), key=lambda a: a.level)

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs to judge on as if it had not stopped; plain JSON."""
        return {
            "ranges": {key: span.state() for key, span in self._ranges.items()},
            "bad": dict(self._bad),
            "seen": self._seen.state(),
            "alerts": [asdict(self._alerts[id]) for id in sorted(self._alerts)],
            "roles": {role: alerts.state() for role, alerts in self._of_roles.items()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._alerts = {alert["id"]: Alert(**alert) for alert in state["alerts"]}
        self._bad = dict(state["bad"])
        for role, alerts in self._of_roles.items():
            alerts.load(state["roles"][role])
        self._seen = RunHistory(KEYS, self._settings)
        self._seen.load(state["seen"])
        self._ranges, self._together, self._doubtful = {}, {}, True
        self._ready = set()
        for key, saved in state["ranges"].items():
            self._ranges[key] = Range(spec(key, self._metrics))
            self._ranges[key].load(saved)

    def _put_together(self, keys: tuple[str, ...]) -> tuple[Ranges, list[Check]]:
        for key in keys:
            if key not in self._ranges:
                self._ranges[key] = Range(spec(key, self._metrics))
        checks = [check for check in self._checks.values() if check.needs[0] in keys]
        self._together[keys] = Ranges({key: self._ranges[key] for key in keys}), checks
        return self._together[keys]

    def _has_what_it_needs(self, check: Check) -> bool:
        if self._seen.has(*check.needs):
            self._ready.add(check.id)
        return check.id in self._ready

    def _look(self, check: Check, phases: set[Phase], env_steps: int) -> Sequence[Alert]:
        excused = phases and not check.excused.isdisjoint(phases)
        message = None if excused else check.judge(self._seen)
        before = self._alerts.get(check.id)
        if message is None and before is None:
            self._bad[check.id] = 0
            return ()
        self._bad[check.id] = bad = 0 if message is None else self._bad.get(check.id, 0) + 1
        if message is not None and bad >= check.patience:
            alert = self._raised(check.id, "warning", message, check.remedy, env_steps)
            return [] if before is not None and before.active else [alert]
        if before is not None and before.active:
            return [self._resolved(check.id)]
        return []

    def _turn(self, key: str, span: Range, kind: str, value: float, env_steps: int) -> list[Alert]:
        changed: list[Alert] = []
        if span.alerting and span.alerting != kind:
            changed.append(self._resolved(f"{key}:{span.alerting}"))
        if kind:
            id = f"{key}:{kind}"
            level = "error" if kind in ("nan", "impossible") else "warning"

            def remedy(seen: RunHistory) -> Remedy:
                advised = REMEDIES[id](seen).for_run(self._settings) if id in REMEDIES else None
                return advised if advised and advised.changes else Remedy(span.advice(kind))

            alert = self._raised(id, level, span.message(key, kind, value), remedy, env_steps)
            if span.alerting != kind:
                changed.append(alert)
        span.alerting = kind
        return changed

    def _raised(
        self,
        id: str,
        level: Literal["error", "warning"],
        message: str,
        remedy: Callable[[RunHistory], Remedy],
        env_steps: int,
    ) -> Alert:
        before = self._alerts.get(id)
        # advice belongs to the moment it was first needed: later a sick run says less of its cause
        if before is not None and before.active:
            advice, changes = before.advice, before.changes
        else:
            advised = remedy(self._seen).for_run(self._settings)
            advice, changes = advised.text(self._settings), advised.changes
        alert = Alert(
            id=id,
            level=level,
            message=message,
            advice=advice,
            first=before.first if before else env_steps,
            last=env_steps,
            count=before.count + 1 if before else 1,
            active=True,
            changes=changes,
        )
        self._alerts[id] = alert
        return alert

    def _resolved(self, id: str) -> Alert:
        self._alerts[id] = replace(self._alerts[id], active=False)
        return self._alerts[id]


def _told_of(role: str, row: Mapping[str, float]) -> dict[str, float]:
    """What checks look at, as if the role were alone."""
    scope = f"{role}:"
    told = {key: value for key, value in row.items() if ":" not in key or key in KEYS}
    return told | {key: row[scope + key] for key in KEYS if scope + key in row}


def _of_role(role: str, alert: Alert) -> Alert:
    return replace(alert, id=f"{role}:{alert.id}", message=f"{role}: {alert.message}")


def spec_is_known(check: Check, metrics: Mapping[str, Metric]) -> bool:
    """Whether a run of these metrics can ever show it."""
    return all(key.rpartition(":")[2] in metrics for key in check.needs)
