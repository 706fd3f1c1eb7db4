"""Health checks: broken runs raise the right alert first, healthy runs raise hardly any.

The rows in `health/` are from real runs; docs/studies/health.py wrote them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docs.studies.health import FAULTS, HEALTHY, PermissiveMetrics, alerts_for_rows
from gymnast.config.resolve import apply_overrides, resolve
from gymnast.config.serialize import flat_values
from gymnast.insight.advice import suggestions
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.checks import CHECKS, REMEDIES
from gymnast.metrics.explain import catalog
from gymnast.metrics.run_history import RunHistory
from gymnast.metrics.specs import METRICS

RECORDS = Path(__file__).parent / "health"


def record(name: str) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Returns the rows and settings of a stored run."""
    stored = np.load(RECORDS / f"{name.replace(':', '.')}.npz")
    keys = stored["keys"].tolist()
    rows = [
        {key: float(value) for key, value in zip(keys, line, strict=True) if not np.isnan(value)}
        for line in stored["values"]
    ]
    return rows, json.loads(str(stored["settings"]))


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_run_raises_the_right_alert_first(name: str):
    raised = alerts_for_rows(*record(name))
    assert raised, "no alert was raised"
    earliest = {alert.id for alert in raised if alert.first == raised[0].first}
    assert earliest & set(FAULTS[name].alerts), [(a.id, a.first) for a in raised]


def test_healthy_runs_raise_hardly_any_alerts():
    raised = {name: [alert.id for alert in alerts_for_rows(*record(name))] for name in HEALTHY}
    assert sum(map(len, raised.values())) < len(HEALTHY), raised


def test_saving_and_loading_alerts_midway_does_not_change_them():
    rows, settings = record("lr-times-100")
    whole, first, second = (Alerts(PermissiveMetrics(METRICS), settings) for _ in range(3))
    for row in rows:
        whole.check_row(row)
    for row in rows[:17]:
        first.check_row(row)
    second.load(json.loads(json.dumps(first.state())))
    for row in rows[17:]:
        second.check_row(row)
    assert second.state() == whole.state()


@pytest.mark.parametrize("id", [*CHECKS, *REMEDIES])
def test_every_alert_id_names_a_declared_metric(id: str):
    assert id.rpartition(":")[0].rpartition(":")[2] in catalog()


@pytest.mark.parametrize("name", FAULTS)
def test_suggested_changes_are_valid_and_the_advice_quotes_the_current_value(name: str):
    """Checks every alert of every broken run."""
    fault, (rows, settings) = FAULTS[name], record(name)
    config = resolve(fault.target, fault.base | fault.planted).config
    alerts = alerts_for_rows(rows, settings)
    suggested = suggestions([asdict(alert) for alert in alerts], rows, settings)
    assert any(suggested.values()) == (name != "deaf-environment")
    for alert in alerts:
        assert alert.advice.strip().endswith((".", ")")), alert.advice
        apply_overrides(config, suggested[alert.id])
        for key in suggested[alert.id]:
            assert f"{key} (now {flat_values(config)[key]})" in alert.advice


def test_there_are_at_least_twenty_five_checks_and_ranges_with_advice():
    ranged = [name for name, metric in METRICS.items() if metric.if_low or metric.if_high]
    assert len(CHECKS) + len(ranged) >= 25


class TestPhases:
    def history(self, *rows: dict[str, float], **settings: Any) -> RunHistory:
        history = RunHistory({"hyper/lr", "episode/return", "eval:episode/return"}, settings)
        for number, row in enumerate(rows, start=1):
            history.add_row({"clock/rollouts": float(number)} | row)
        return history

    def test_warm_up_covers_the_first_rows_and_the_first_part_of_the_budget(self):
        late = {"progress/share": 0.5}
        assert "warm-up" in self.history(*[late] * 5).phases()
        assert "warm-up" not in self.history(*[late] * 6).phases()
        assert "warm-up" in self.history(*[{"progress/share": 0.04}] * 60).phases()

    def test_a_learning_rate_below_a_tenth_of_its_peak_is_annealed(self):
        assert "annealed" not in self.history({"hyper/lr": 1e-3}, {"hyper/lr": 2e-4}).phases()
        assert "annealed" in self.history({"hyper/lr": 1e-3}, {"hyper/lr": 1e-4}).phases()

    def test_solved_means_at_the_threshold_in_training_or_evaluation(self):
        goal = {"facts.threshold": 475}
        assert not self.history({"episode/return": 474.0}, **goal).is_solved
        assert self.history({"episode/return": 475.0}, **goal).is_solved
        assert self.history({"episode/return": 9.0, "eval:episode/return": 480.0}, **goal).is_solved
        assert not self.history({"episode/return": 480.0}).is_solved, (
            "without a threshold a run is never solved"
        )
        assert not self.history({"episode/return": 480.0}, **{"facts.threshold": "off"}).is_solved


@pytest.mark.parametrize(
    ("offset", "spread", "parent", "expected"),
    [
        (0.01, 1.24, None, set()),  # a normal distribution with standard deviation 1, clipped
        (0.01, 0.92, None, set()),  # log_std -0.5, as the MuJoCo presets have it
        (0.3, 1.0, None, {"rollout/action_offset:biased"}),
        (0.01, 0.1, None, {"rollout/action_spread:biased"}),
        (0.01, 1.67, None, {"rollout/action_spread:biased"}),
        (0.3, 0.1, "k3f9a2bc", set()),
    ],
)
def test_a_continuous_policy_that_does_not_begin_uniform_raises_an_alert(
    offset: float, spread: float, parent: str | None, expected: set[str]
):
    settings = {"policy.log_std": -3.0, "normalize.obs": "off", "run.parent": parent}
    alerts = Alerts(METRICS, settings)
    row = {"clock/rollouts": 1.0, "rollout/action_offset": offset, "rollout/action_spread": spread}
    alerts.check_row({**row, "rollout/obs_mean": 90.0, "rollout/obs_std": 9.0})
    found = {alert.id: alert for alert in alerts.active()}
    assert found.keys() == expected
    for id, alert in found.items():
        key = "policy.log_std (now -3.0)" if "spread" in id else "normalize.obs (now off)"
        assert key in alert.advice
    alerts.check_row({**row, "clock/rollouts": 2.0})
    assert not alerts.active(), "later the policy has learned"


@pytest.mark.parametrize(
    ("slowest", "median", "is_slow"),
    [(0.9, 0.3, True), (0.5, 0.3, False), (0.02, 0.005, False), (0.3, 0.3, False)],
)
def test_a_host_that_all_others_wait_for_raises_an_alert(
    slowest: float, median: float, is_slow: bool
):
    alerts = Alerts(METRICS)
    for k in range(12):
        row = {"clock/env_steps": 100.0 * k, "hosts/slowest": slowest, "hosts/median": median}
        alerts.check_row(row)
    found = {alert.id: alert for alert in alerts.active()}
    assert found.keys() == ({"hosts/slowest:slow"} if is_slow else set())
    if is_slow:
        assert (
            "0.9 s for its part of a rollout, the median host 0.3 s" in found.popitem()[1].message
        )
