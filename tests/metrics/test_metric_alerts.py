"""Alerts: at once for impossible values, after several rows for unhealthy ones, resolved afterwards."""

from __future__ import annotations

import json
import math
import random

import pytest

from gymnast.metrics.alerts import Alerts
from gymnast.metrics.metric import Limits, Metric
from gymnast.metrics.ranges import KeyMonitor
from gymnast.metrics.specs import METRICS

RESOLVED = {name: metric.resolved(Limits(n_actions=2)) for name, metric in METRICS.items()}


def judged(alerts: Alerts, key: str, *values: float) -> list[tuple[str, bool]]:
    found = []
    for step, value in enumerate(values):
        row = {"clock/env_steps": float(step), key: value}
        found += [(alert.id, alert.active) for alert in alerts.check_row(row)]
    return found


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_an_error_at_once_and_resolved_afterwards(value: float):
    alerts = Alerts(RESOLVED)
    assert judged(alerts, "policy/loss", 0.1, value, value, 0.1) == [
        ("policy/loss:nan", True),
        ("policy/loss:nan", False),
    ]
    (alert,) = alerts.all()
    assert (alert.level, alert.first, alert.last, alert.count) == ("error", 1, 2, 2)
    assert alerts.active() == []


def test_an_alert_quotes_the_most_extreme_short_mean():
    alerts = Alerts(RESOLVED)
    judged(alerts, "policy/kl", *[0.2] * 6, 0.7, 0.0, 0.0, 0.0)  # the last means are lower again
    (alert,) = alerts.all()
    assert alert.active
    assert "0.3000 nats (mean of 5 rows)" in alert.message  # mean of four times 0.2 and once 0.7
    again = Alerts(RESOLVED)
    again.load(json.loads(json.dumps(alerts.state())))
    for one in (alerts, again):
        judged(one, "policy/kl", 0.0)
        assert one.all()[0].message == alert.message


def test_an_entropy_above_ln_n_is_impossible():
    alerts = Alerts(RESOLVED)
    assert judged(alerts, "policy/entropy", math.log(2)) == []
    assert judged(alerts, "policy/entropy", math.log(2) + 1e-7) == [], "float32 may round up"
    assert judged(alerts, "policy/entropy", 0.8) == [("policy/entropy:impossible", True)]
    assert "0 to 0.693147 nats" in alerts.active()[0].message


def test_a_scoped_key_is_checked_by_its_metric_and_has_its_own_alert_id():
    metrics = {"episode/return": Metric("episode/return", "X.", bounds=(0, 500))}
    metrics["clock/env_steps"] = METRICS["clock/env_steps"]
    alerts = Alerts(metrics)
    assert judged(alerts, "eval:episode/return", 501.0) == [
        ("eval:episode/return:impossible", True)
    ]


def test_an_unhealthy_value_is_a_warning_only_if_it_persists():
    alerts = Alerts(RESOLVED)
    assert judged(alerts, "policy/kl", *[0.2] * 4) == []
    assert judged(alerts, "policy/kl", 0.2) == [("policy/kl:high", True)]
    assert judged(alerts, "policy/kl", 0.2, 0.2) == [], "raised once, then counted"
    (alert,) = alerts.active()
    assert (alert.level, alert.count) == ("warning", 3)
    assert "algo.lr" in alert.advice
    assert judged(alerts, "policy/kl", *[0.0] * 5) == [("policy/kl:high", False)]


def test_single_spikes_raise_no_alert():
    alerts = Alerts(RESOLVED)
    spiky = [0.01, 0.01, 0.01, 0.01, 0.2] * 20
    assert judged(alerts, "policy/kl", *spiky) == []


def test_alerts_are_sorted_by_id_and_active_errors_come_first():
    alerts = Alerts(RESOLVED)
    for _ in range(5):
        alerts.check_row({"policy/clip_fraction": 0.9, "value/loss": math.nan, "policy/kl": 0.3})
    ids = ["policy/clip_fraction:high", "policy/kl:high", "value/loss:nan"]
    assert [alert.id for alert in alerts.all()] == ids
    assert [alert.id for alert in alerts.active()] == ["value/loss:nan", *ids[:2]]


def test_a_resumed_run_raises_the_same_alerts_as_an_uninterrupted_one():
    values = [0.01, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, math.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3]
    for stop in range(len(values)):
        uninterrupted, first, second = Alerts(RESOLVED), Alerts(RESOLVED), Alerts(RESOLVED)
        judged(first, "policy/kl", *values[:stop])
        second.load(json.loads(json.dumps(first.state())))
        expected = judged(uninterrupted, "policy/kl", *values)[
            len(judged(Alerts(RESOLVED), "policy/kl", *values[:stop])) :
        ]
        assert judged(second, "policy/kl", *values[stop:]) == expected
        assert [a.count for a in second.all()] == [a.count for a in uninterrupted.all()]


def test_a_whole_row_is_checked_like_each_of_its_keys_alone():
    """Uses random rows: keys come and go, and so do values that are unhealthy, impossible or not finite."""
    rng, alerts = random.Random(5), Alerts(RESOLVED)
    names = ["policy/kl", "policy/entropy", "value/loss", "policy/clip_fraction", "episode/length"]
    apart = {name: KeyMonitor(RESOLVED[name]) for name in names}
    holding: dict[str, str] = {}
    usual = {"policy/kl": 0.01, "policy/entropy": 0.5, "policy/clip_fraction": 0.1}
    for step in range(400):
        row = {name: usual.get(name, 20.0) for name in names if rng.random() < 0.9}
        if step % 40 < 12:  # for a while
            row["policy/kl"] = 0.3
        for name in row:
            if rng.random() < 0.03:
                row[name] = rng.choice([math.nan, math.inf, -math.inf, -7.0, 1e9])
        alerts.check_row({"clock/env_steps": float(step), "clock/rollouts": 50.0 + step} | row)
        for name, value in row.items():
            holding[name] = apart[name].check(value, set())
        expected = {f"{name}:{kind}" for name, kind in holding.items() if kind}
        assert {alert.id for alert in alerts.active()} == expected, step
    assert {alert.id.rpartition(":")[2] for alert in alerts.all()} >= {"nan", "impossible", "high"}
