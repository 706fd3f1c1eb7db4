"""Some of the healthy and broken runs again, trained anew: their records are not the only ones that
are judged rightly. Slow: real trainings."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.studies.health import FAULTS, QUIET, diagnosed, raised
from gymnast.training.notebook import train

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SEED = 7
"""Of none of the stored runs."""


@pytest.mark.parametrize("name", ["lr-times-0.001", "reward-flipped", "deaf-environment"])
def test_a_broken_run_is_seen_through(name: str, tmp_path: Path):
    fault = FAULTS[name]
    settings = QUIET | fault.base | fault.planted
    run = train(fault.target, overrides=settings, seed=SEED, runs_dir=tmp_path, quiet=True)
    assert raised(run)[0].id in fault.alerts
    findings = diagnosed(run).findings[:2]
    assert any(set(finding.alerts) & set(fault.alerts) for finding in findings)


def test_healthy_runs_are_left_alone(tmp_path: Path):
    presets = ("CartPole-v1:ppo", "CartPole-v1:a2c", "Pendulum-v1:ppo")
    given = {"overrides": QUIET, "seed": SEED, "runs_dir": tmp_path, "quiet": True}
    alerts = {name: [alert.id for alert in raised(train(name, **given))] for name in presets}
    assert sum(map(len, alerts.values())) < len(presets), alerts
