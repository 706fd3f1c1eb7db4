"""Checks of health: the right alert comes first in broken runs, hardly any in healthy ones.

The records in `health/` are those of real runs, written by docs/studies/health.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docs.studies.health import FAULTS, HEALTHY, Loose, judged
from gymnast.config.resolve import resolve, revise
from gymnast.config.saved import values
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.checks import CHECKS, REMEDIES
from gymnast.metrics.explain import catalogue
from gymnast.metrics.seen import RunHistory
from gymnast.metrics.specs import METRICS

RECORDS = Path(__file__).parent / "health"


def record(name: str) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Rows and settings of a stored run."""
    held = np.load(RECORDS / f"{name.replace(':', '.')}.npz")
    keys = held["keys"].tolist()
    rows = [
        {key: float(value) for key, value in zip(keys, line, strict=True) if not np.isnan(value)}
        for line in held["values"]
    ]
    return rows, json.loads(str(held["settings"]))


@pytest.mark.parametrize("name", FAULTS)
def test_the_right_alert_comes_first(name: str):
    raised = judged(*record(name))
    assert raised, "nothing was noticed"
    earliest = {alert.id for alert in raised if alert.first == raised[0].first}
    assert earliest & set(FAULTS[name].alerts), [(a.id, a.first) for a in raised]


def test_healthy_runs_are_left_alone():
    raised = {name: [alert.id for alert in judged(*record(name))] for name in HEALTHY}
    assert sum(map(len, raised.values())) < len(HEALTHY), raised


def test_a_record_judged_in_two_parts_is_judged_as_one():
    rows, settings = record("lr-times-100")
    whole, first, second = (Alerts(Loose(METRICS), settings) for _ in range(3))
    for row in rows:
        whole.judge(row)
    for row in rows[:17]:
        first.judge(row)
    second.load(json.loads(json.dumps(first.state())))
    for row in rows[17:]:
        second.judge(row)
    assert second.state() == whole.state()


@pytest.mark.parametrize("id", [*CHECKS, *REMEDIES])
def test_an_alert_is_about_a_declared_number(id: str):
    assert id.rpartition(":")[0].rpartition(":")[2] in catalogue()


@pytest.mark.parametrize("name", FAULTS)
def test_advice_is_a_change_that_the_config_takes_and_says_from_what(name: str):
    """How far, in which direction, of which key: for every alert of every broken run."""
    fault = FAULTS[name]
    config = resolve(fault.target, fault.base | fault.planted).config
    for alert in judged(*record(name)):
        assert alert.advice.strip().endswith((".", ")")), alert.advice
        if alert.changes:
            revise(config, alert.changes)
        for key, value in alert.changes.items():
            assert f"{key}={value} (now {values(config)[key]})" in alert.advice


def test_there_are_about_twenty_five_rules():
    ranged = [name for name, metric in METRICS.items() if metric.if_low or metric.if_high]
    assert len(CHECKS) + len(ranged) >= 25


class TestPhases:
    def seen(self, *rows: dict[str, float], **settings: Any) -> RunHistory:
        held = RunHistory({"hyper/lr", "episode/return", "eval:episode/return"}, settings)
        for number, row in enumerate(rows, start=1):
            held.take({"clock/rollouts": float(number)} | row)
        return held

    def test_it_warms_up_for_the_first_rows_and_the_first_part_of_the_budget(self):
        late = {"progress/share": 0.5}
        assert "warm-up" in self.seen(*[late] * 5).phases()
        assert "warm-up" not in self.seen(*[late] * 6).phases()
        assert "warm-up" in self.seen(*[{"progress/share": 0.04}] * 60).phases()

    def test_a_rate_that_has_fallen_to_a_tenth_is_annealed(self):
        assert "annealed" not in self.seen({"hyper/lr": 1e-3}, {"hyper/lr": 2e-4}).phases()
        assert "annealed" in self.seen({"hyper/lr": 1e-3}, {"hyper/lr": 1e-4}).phases()

    def test_solved_is_by_the_threshold_in_training_or_evaluation(self):
        goal = {"facts.threshold": 475}
        assert not self.seen({"episode/return": 474.0}, **goal).solved
        assert self.seen({"episode/return": 475.0}, **goal).solved
        assert self.seen({"episode/return": 9.0, "eval:episode/return": 480.0}, **goal).solved
        assert not self.seen({"episode/return": 480.0}).solved, "no threshold, never solved"
        assert not self.seen({"episode/return": 480.0}, **{"facts.threshold": "off"}).solved
