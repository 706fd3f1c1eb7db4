"""The doctor finds the planted fault from the rows alone, and its patch is a valid config."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from docs.studies.health import FAULTS, HEALTHY, alerts_for_rows
from gymnast.config.resolve import apply_overrides, resolve
from gymnast.insight import envelope
from gymnast.insight.causes import CAUSES, SYMPTOMS
from gymnast.insight.doctor import Diagnosis, diagnose_rows
from gymnast.insight.reference import Reference
from gymnast.metrics.checks import CHECKS, REMEDIES
from tests.metrics.test_checks import record

LOW = {"low": -1e9, "high": -1e9}


def diagnosed(
    name: str, target: str, solved: bool = False, reference: Reference | None = None
) -> Diagnosis:
    """Diagnoses a stored run from its rows alone, unless a reference is given."""
    rows, settings = record(name)
    alerts = [asdict(alert) for alert in alerts_for_rows(rows, settings)]
    score = {"mean": 1.0, "low": 1.0, "high": 1.0} if solved else {"mean": -1e9} | LOW
    score["episodes"] = 100
    info: dict[str, Any] = {
        "id": name,
        "preset": target,
        "env": target.rpartition(":")[0],
        "alerts": alerts,
        "status": "finished",
        "reason": "",
        "solved": solved,
        "score": score,
        "threshold": 0.0,
    }
    return diagnose_rows(info, rows, settings, envelope.load_envelope(target), reference)


def test_the_planted_cause_is_among_the_first_two_findings():
    found = {name: diagnosed(name, fault.target) for name, fault in FAULTS.items()}
    named = [
        name
        for name, fault in FAULTS.items()
        if any(set(f.alerts) & set(fault.alerts) for f in found[name].findings[:2])
    ]
    assert len(named) >= 10, {n: [f.cause for f in d.findings[:3]] for n, d in found.items()}


@pytest.mark.parametrize("name", FAULTS)
def test_every_patch_gives_a_valid_and_different_config(name: str):
    fault = FAULTS[name]
    patch = diagnosed(name, fault.target).changes
    config = resolve(fault.target, fault.base | fault.planted).config
    if patch:
        changed, _ = apply_overrides(config, patch)
        assert changed != config


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_gets_no_patch(name: str):
    assert not diagnosed(name, name, solved=True).changes


def test_every_check_and_remedy_belongs_to_a_cause():
    known = {*SYMPTOMS, *(id for cause in CAUSES for id in cause.alerts)}
    assert {*CHECKS, *REMEDIES} <= known


def test_a_nan_is_the_first_finding():
    alert = {
        "id": "policy/kl:nan",
        "level": "error",
        "message": "policy/kl is nan",
        "count": 1,
        "first": 0,
    }
    high = {**alert, "id": "policy/kl:high", "level": "warning", "message": "high", "count": 9}
    info = {"id": "x", "preset": "CartPole-v1:ppo", "alerts": [high, alert]}
    info |= {"status": "running", "reason": ""}
    found = diagnose_rows(info, [], {"algo.lr": 1e-3}, None)
    assert [f.alerts for f in found.findings] == [["policy/kl:nan"], ["policy/kl:high"]]


class TestEnvelope:
    ROWS = [
        {"clock/env_steps": 100.0 * i, "policy/kl": 0.01, "optim/update_norm": 1.0 + 0.01 * i}
        for i in range(1, 101)
    ]

    def test_a_run_like_the_others_is_inside_the_envelope(self):
        band = envelope.build_envelope("x", [self.ROWS, self.ROWS])
        assert envelope.find_violations(band, self.ROWS) == []

    def test_a_run_with_updates_a_hundred_times_as_large_is_outside_by_that_factor(self):
        band = envelope.build_envelope("x", [self.ROWS, self.ROWS])
        fast = [row | {"optim/update_norm": 100 * row["optim/update_norm"]} for row in self.ROWS]
        (departure,) = envelope.find_violations(band, fast)
        assert (departure.key, departure.side, departure.share) == ("optim/update_norm", "high", 1)
        assert departure.factor == pytest.approx(100, rel=0.05)

    def test_a_metric_that_one_seed_lacks_is_not_in_the_envelope(self):
        other = [{k: v for k, v in row.items() if k != "policy/kl"} for row in self.ROWS]
        assert set(envelope.build_envelope("x", [self.ROWS, other])["bands"]) == {
            "optim/update_norm"
        }
