"""Some of the stored healthy and broken runs are trained again with new seeds, and diagnosed
correctly. Slow: these are real training runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.studies.health import FAULTS, QUIET, diagnose_record, recomputed_alerts
from gymnast.training.python_api import train

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SEED = 7
"""A seed that none of the stored runs has."""


@pytest.mark.parametrize("name", ["lr-times-0.001", "reward-flipped", "deaf-environment"])
def test_a_broken_run_is_diagnosed(name: str, tmp_path: Path):
    fault = FAULTS[name]
    settings = QUIET | fault.base | fault.planted
    run = train(fault.target, overrides=settings, seed=SEED, runs_dir=tmp_path, quiet=True)
    assert recomputed_alerts(run)[0].id in fault.alerts
    findings = diagnose_record(run).findings[:2]
    assert any(set(finding.alerts) & set(fault.alerts) for finding in findings)


def test_healthy_runs_raise_few_alerts(tmp_path: Path):
    presets = ("CartPole-v1:ppo", "CartPole-v1:a2c", "Pendulum-v1:ppo")
    arguments = {"overrides": QUIET, "seed": SEED, "runs_dir": tmp_path, "quiet": True}
    alerts = {
        name: [alert.id for alert in recomputed_alerts(train(name, **arguments))]
        for name in presets
    }
    assert sum(map(len, alerts.values())) < len(presets), alerts
