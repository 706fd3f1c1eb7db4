"""Traps 54 and 55: a failed run is never called healthy, and no patch changes how a run is measured."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import pytest
from click.testing import CliRunner

from docs.studies.health import FAULTS, HEALTHY, alerts_for_rows
from gymnast.cli import cli
from gymnast.config.resolve import apply_overrides, resolve
from gymnast.config.sections import ALGORITHMS
from gymnast.config.serialize import flat_values
from gymnast.insight import envelope
from gymnast.insight.causes import SHORT_HORIZON
from gymnast.insight.doctor import Diagnosis, diagnose, diagnose_rows
from gymnast.insight.reference import Reference, reference_for
from gymnast.insight.suspects import find_suspects
from gymnast.metrics import alerts as judging
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.checks import CHECKS, KEYS, REMEDIES
from gymnast.metrics.checks.allowed_changes import advisable_changes, concerns_learning
from gymnast.metrics.checks.check import Check, Remedy
from gymnast.metrics.run_history import RunHistory
from gymnast.metrics.specs import METRICS
from gymnast.runs.doubts import first_return
from tests.metrics.test_checks import record
from tests.small_runs import train_small

TARGETS = {name: name for name in HEALTHY} | {name: fault.target for name, fault in FAULTS.items()}


def ended(name: str, alerts: list[dict[str, Any]] | None = None, **outcome: Any) -> Diagnosis:
    """Returns the diagnosis of a stored record, as if the run had ended like this."""
    rows, settings = record(name)
    found = (
        [asdict(alert) for alert in alerts_for_rows(rows, settings)] if alerts is None else alerts
    )
    target = TARGETS[name]
    info = {
        "id": name,
        "preset": target,
        "env": target.rpartition(":")[0],
        "alerts": found,
        "status": "finished",
        "reason": "budget spent",
        "solved": False,
        "threshold": 100.0,
    }
    healthy = envelope.load_envelope(target)
    return diagnose_rows(info | outcome, rows, settings, healthy, reference_for(target))


def score(mean: float, half: float = 1.0) -> dict[str, float]:
    return {"mean": mean, "low": mean - half, "high": mean + half, "episodes": 20}


# ---- 54: the outcome comes first --------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("alerts", [None, []], ids=["its alerts", "no alerts"])
def test_a_run_that_ended_below_its_threshold_is_never_healthy(name, alerts):
    found = ended(name, alerts, score=score(99.0))
    assert found.healthy is False
    assert found.outcome.kind == "failed"
    assert "below the threshold 100.0" in found.outcome.text
    assert found.findings or found.unusual, "what is unusual is listed where no cause matches"


@pytest.mark.parametrize("name", TARGETS)
def test_a_run_no_better_than_random_actions_is_never_healthy(name):
    rows, _ = record(name)
    untrained = first_return(rows)
    assert untrained is not None
    found = ended(name, [], score=score(untrained["mean"]), threshold=None, solved=None)
    assert found.healthy is False
    assert "no better than sampled actions, the first training return" in found.outcome.text
    better = score(untrained["mean"] + 6 * (untrained["high"] - untrained["mean"]) + 10)
    assert ended(name, [], score=better, threshold=None, solved=None).healthy is True


@pytest.mark.parametrize("name", HEALTHY)
def test_a_solved_run_is_healthy_and_gets_no_patch(name):
    found = ended(name, score=score(101.0), solved=True)
    assert found.healthy is True
    assert not found.changes


@pytest.mark.parametrize("status", ["running", "paused", "stopped", "lost"])
def test_a_running_run_is_too_early_to_judge(status):
    found = ended("CartPole-v1:ppo", [], status=status, score=None, solved=None)
    assert found.outcome.kind == "early"
    assert found.healthy is None


def test_a_crash_is_a_failure():
    found = ended("CartPole-v1:ppo", [], status="failed", score=None, solved=None)
    assert (found.outcome.kind, found.healthy) == ("failed", False)


def test_a_mean_above_the_threshold_with_a_bound_below_it_is_unconfirmed():
    found = ended("CartPole-v1:ppo", [], score=score(100.5))
    assert (found.outcome.kind, found.healthy) == ("unconfirmed", False)


def test_a_short_run_is_judged_by_what_it_scored():
    run = train_small("CartPole-v1", {"stop.env_steps": 1024})
    found = diagnose(run)
    assert found.outcome.kind == "failed"
    assert found.findings[0].cause == "the budget is too small"
    page = CliRunner().invoke(cli, ["doctor", run.id]).output
    assert "failed: scored" in page
    assert "healthy" not in page.splitlines()[1]


@pytest.mark.parametrize(
    ("settings", "cause", "patch"),
    [
        (
            {"algo.lr": "{0%: 1e-3, 4%: 0, 100%: 0}"},
            "reaches 0 too early",
            {"algo.lr": "0.001 -> 0"},
        ),
        ({"algo.weight_decay": 100.0}, "weight decay is too large", {"algo.weight_decay": 0.0}),
    ],
)
def test_causes_visible_in_the_config_are_named(settings, cause, patch):
    run = train_small("CartPole-v1", {"stop.env_steps": 16_384, "eval.every": "off"} | settings)
    found = diagnose(run)
    assert found.healthy is False
    named = [finding for finding in found.findings if cause in finding.cause]
    assert [finding.changes for finding in named] == [patch]


@pytest.mark.parametrize(
    ("gamma", "length", "gap", "named"),
    [
        (0.85, 450.0, 1.0, True),  # 7 of 450 steps ahead
        (0.99, 450.0, 1.0, False),
        (0.95, 150.0, 100.0, True),  # a reward comes every 100 steps, and 20 steps ahead count
        (0.99, 80.0, 1024.0, False),  # there is no reward at all
        (0.0, 100.0, 1.0, False),  # a bandit
    ],
)
def test_gamma_is_suspected_if_rewards_come_later_than_its_horizon(gamma, length, gap, named):
    row = {"clock/env_steps": 1.0, "episode/length": length, "rollout/reward_interval": gap}
    found = find_suspects({"algo.gamma": gamma}, [row] * 8, Reference(), ())
    assert [finding.cause for finding in found] == [SHORT_HORIZON] * named


# ---- 55: a patch changes how the agent learns ---------------------------------------------------

MEASURING = ("seed", "eval.", "facts.", "stop.", "env.", "metrics.")


def test_measurement_settings_are_not_blamed_for_learning_problems():
    for key in flat_values(resolve("CartPole-v1").config):
        if key.startswith(MEASURING) and key != "env.n_envs":
            assert not concerns_learning(key), key
    assert not concerns_learning("algo.name")
    assert concerns_learning("shaping.count.weight")
    assert not concerns_learning("shaping.count.kwargs")


def test_an_alert_never_advises_to_change_the_measurement(monkeypatch):
    """The checks here propose another value for every setting there is, and for some that
    this algorithm lacks."""
    settings = flat_values(resolve("CartPole-v1", algo="dqn").config)
    wanted = dict.fromkeys([*settings, "algo.epochs", "algo.entropy_coef"], "another")
    check = Check("policy/kl:bad", ("policy/kl",), lambda _: "bad", lambda _: Remedy("", wanted), 1)
    monkeypatch.setattr(judging, "CHECKS", {check.id: check})
    (alert,) = Alerts(METRICS, settings).check_row({"policy/kl": 0.01, "clock/env_steps": 1.0})
    advised = set(re.findall(r"change (\S+) \(now", alert.advice.lower()))
    assert advised
    assert all(map(concerns_learning, advised))
    assert advised <= settings.keys()
    assert not any(key.startswith(MEASURING) for key in advised - {"env.n_envs"})


def test_stored_advice_about_measurement_settings_is_not_repeated():
    alert = {
        "id": "policy/kl:high",
        "level": "warning",
        "message": "",
        "count": 9,
        "first": 0,
        "changes": {"eval.deterministic": False, "stop.env_steps": 1, "algo.lr": 1e-4},
    }
    found = ended("CartPole-v1:ppo", [alert], score=score(0.0))
    assert all(map(concerns_learning, (key for f in found.findings for key in f.changes)))


def test_a_setting_with_which_the_preset_solves_the_task_is_not_patched():
    """Another setting is reset to the preset's value, however far the advice would go."""
    _, settings = record("lr-times-100")
    reference = reference_for(TARGETS["lr-times-100"])
    assert reference.has_solved_runs
    found = ended("lr-times-100", score=score(0.0))
    assert found.changes == {"algo.lr": reference.settings["algo.lr"]}
    for finding in found.findings:
        for key, value in finding.changes.items():
            assert settings[key] != reference.settings[key] == value


def test_a_constant_return_is_not_reported_as_falling():
    seen = RunHistory(KEYS, {})
    for number in range(1, 30):
        row = {"episode/return": -500.0, "episode/return_std": 0.0, "episode/count": 10.0}
        seen.add_row(row | {"clock/env_steps": float(number)})
    assert CHECKS["episode/return:falls"].find_problem(seen) is None


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize("size", [0.0, 1e-6, 1.0, 1e4])
def test_every_advised_patch_is_a_valid_config_of_the_same_algorithm(algo, size):
    config = resolve("CartPole-v1", algo=algo).config
    settings = flat_values(config)
    seen = RunHistory(KEYS, settings)
    for number in range(1, 9):
        seen.add_row(dict.fromkeys(KEYS, size) | {"clock/rollouts": float(number)})
    remedies = [*(check.remedy for check in CHECKS.values()), *REMEDIES.values()]
    for remedy in remedies:
        changes = remedy(seen).for_run(settings).changes
        assert changes == advisable_changes(changes, settings)
        if changes:
            apply_overrides(config, changes)


def test_the_falling_return_of_a_role_is_not_reported_as_a_problem():
    """It falls when the opponent improves."""
    row = {"episode/return_std": 0.1, "episode/count": 100.0, "progress/share": 0.5}
    alerts = Alerts(METRICS, {}, roles=["seeker"])
    raised: list[str] = []
    for number in range(1, 60):
        values = row | {"episode/return": 1.0 if number < 20 else -1.0}
        clocks = {"clock/rollouts": float(number), "clock/env_steps": 100.0 * number}
        scoped = {f"seeker:{key}": value for key, value in values.items()} | {"progress/share": 0.5}
        raised += [alert.id for alert in alerts.check_row(clocks | scoped)]
    assert not [id for id in raised if "episode/return" in id]


def test_gamma_zero_is_not_reported_for_a_bandit():
    seen = RunHistory(KEYS, {"algo.gamma": 0.0})
    seen.add_row({"episode/length": 100.0})
    check = CHECKS["episode/length:shortsighted"]
    assert check.find_problem(seen) is None
    seen.settings = {"algo.gamma": 0.5}
    assert check.find_problem(seen)
