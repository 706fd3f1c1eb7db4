"""Trap 68: there is one proposal per setting, in the direction of its cause; all faces show the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli import cli
from gymnast.config.families import is_multi_agent
from gymnast.config.resolve import resolve
from gymnast.config.schedule import Schedule
from gymnast.config.sections import ALGORITHMS
from gymnast.config.serialize import flat_values
from gymnast.insight.advice import propose, usual_learning_rate
from gymnast.insight.causes import CAUSES, TOO_LARGE_STEPS, TOO_SMALL_STEPS
from gymnast.insight.doctor import Diagnosis, diagnose, diagnose_rows
from gymnast.insight.envelope import EnvelopeViolation
from gymnast.insight.reference import Reference, reference_for
from gymnast.insight.suspects import find_suspects
from gymnast.mcp.options import McpOptions
from gymnast.metrics.alert import Alert
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.checks import CHECKS, KEYS, REMEDIES
from gymnast.metrics.checks.allowed_changes import direction
from gymnast.metrics.run_history import RunHistory
from gymnast.metrics.specs import METRICS
from gymnast.runs.info import RunInfo
from gymnast.runs.run import Run
from gymnast.training.python_api import train
from tests.mcp.sessions import ask
from tests.small_runs import train_small

FAST = {"eval.mode": "inline", "eval.episodes": 4, "eval.confirm_episodes": 4, "eval.n_envs": 4}
ALERTS = [*CHECKS, *REMEDIES]
WORDS = {"too large": -1, "too small": 1, "too few": 1, "too early": 1}
"""Part of the name of a cause -> the direction in which its settings must be changed."""


def histories(algo: str) -> Iterator[RunHistory]:
    """Yields histories with tiny and huge metrics, for small and large settings of an algorithm."""
    defaults = flat_values(resolve("CartPole-v1", algo=algo).config)
    small = {"env.n_envs": 1, "algo.lr": 1e-7, "algo.gamma": 0.5, "normalize.reward": "running"}
    large = {"env.n_envs": 64, "algo.lr": 10.0, "algo.entropy_coef": 1.0, "algo.n_steps": 100}
    for given in ({}, small, large):
        settings = defaults | {key: value for key, value in given.items() if key in defaults}
        for size in (0.0, 1e-6, 1.0, 1e4):
            history = RunHistory(KEYS, settings)
            for number in range(1, 9):
                history.add_row(dict.fromkeys(KEYS, size) | {"clock/rollouts": float(number)})
            yield history


def scaled(value: object, factor: float) -> object:
    """Returns a number or a schedule multiplied by a factor; anything else as it is."""
    try:
        return Schedule.parse(value).scaled(factor).to_plain()
    except (ValueError, TypeError):
        return value


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize("id", ALERTS)
def test_no_proposal_moves_a_setting_against_its_cause(algo: str, id: str):
    """The presets that solve the task have smaller, equal and larger values."""
    cause = next((cause.name for cause in CAUSES if id in cause.alerts), "")
    expected = next((way for words, way in WORDS.items() if words in cause), None)
    remedy = CHECKS[id].remedy if id in CHECKS else REMEDIES[id]
    for history in histories(algo):
        settings, suggested = history.settings, remedy(history).changes
        for factor in (1e-3, 0.5, 1.0, 2.0, 1e3):
            values = {key: scaled(value, factor) for key, value in settings.items()}
            references = [Reference(values, [1000]), Reference(values)]
            proposed = [propose(suggested, settings, reference) for reference in references]
            for key, value in (item for changes in proposed for item in changes.items()):
                wanted = direction(settings[key], suggested[key])
                assert wanted in (0, direction(settings[key], value)), (key, value, suggested)
                assert expected is None or wanted in (0, expected), (cause, key, suggested)


def test_a_learning_rate_that_is_too_large_is_not_replaced_by_a_larger_one():
    settings, preset = {"algo.lr": 5e-4}, Reference({"algo.lr": 1e-3}, [1000])
    assert propose({"algo.lr": 2.5e-4}, settings, preset) == {"algo.lr": 2.5e-4}
    assert propose({"algo.lr": 5e-3}, settings, preset) == {"algo.lr": 1e-3}
    assert propose({"algo.lr": 2.5e-4}, {"algo.lr": 1e-3}, preset) == {}, "the preset solves it"


def test_a_value_that_is_still_absurd_is_not_proposed_where_nothing_is_known_to_solve_the_task():
    default = Reference({"algo.lr": 3e-4}, name="default")
    assert propose({"algo.lr": 1e4}, {"algo.lr": 1e6}, default) == {"algo.lr": 3e-4}
    assert propose({"algo.lr": 1e-3}, {"algo.lr": 1e-2}, default) == {"algo.lr": 1e-3}, "near"
    assert propose({"algo.lr": 3e-6}, {"algo.lr": 3e-4}, default) == {"algo.lr": 3e-6}, "beyond"


@pytest.mark.parametrize(
    ("factor", "too_large"), [(0.1, True), (10.0, False), (float("nan"), True)]
)
def test_the_size_of_healthy_updates_never_moves_the_learning_rate_the_wrong_way(factor, too_large):
    norm = EnvelopeViolation("optim/update_norm", "high", 1.0, factor)
    assert usual_learning_rate([norm], {"algo.lr": 1e-3}, too_large=too_large) == {}
    right = EnvelopeViolation("optim/update_norm", "high", 1.0, 10.0 if too_large else 0.1)
    (rate,) = usual_learning_rate([right], {"algo.lr": 1e-3}, too_large=too_large).values()
    assert direction(1e-3, rate) == (-1 if too_large else 1)


@pytest.mark.parametrize("gamma", [0.5, 0.99, 0.997])
def test_a_gamma_that_is_too_small_is_never_lowered(gamma: float):
    row = {"clock/env_steps": 1.0, "episode/length": 1e5}
    (finding,) = find_suspects({"algo.gamma": gamma}, [row] * 8, Reference(), ())
    assert direction(gamma, finding.changes["algo.gamma"]) >= 0


# ---- one value in every face --------------------------------------------------------------------


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of the preset whose learning rate is a hundred times too large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYMNAST_RUNS", str(tmp_path_factory.mktemp("runs")))
        settings = FAST | {"stop.env_steps": 10_240, "algo.lr": 0.1}
        return train("CartPole-v1", overrides=settings, quiet=True)


def faces(run: Run, folder: Path) -> dict[str, str]:
    """Returns everything that is written about a run and may contain advice."""
    runs_dir = str(run.path.parent)
    options, review = McpOptions(run.path.parent), folder / "review.md"
    CliRunner().invoke(cli, ["review", run.id, "--out", str(review), "--runs", runs_dir])
    report = api.report(run.id, ["md", "html"], folder, runs_dir=runs_dir)
    texts = {
        command: CliRunner().invoke(cli, [*command.split(), run.id, "--runs", runs_dir]).output
        for command in ("doctor", "doctor --json", "show", "show --json")
    }
    return texts | {
        "report": "".join(
            Path(f).read_text() for f in report.files if f.endswith((".md", ".html"))
        ),
        "review": review.read_text(),
        "mcp": json.dumps(ask(options, "diagnose", run=run.id)),
        "mcp alerts": json.dumps(ask(options, "diagnose", run=run.id, view="alerts")),
        "run.json": json.dumps(run.info["alerts"]),
        "log": (run.path / "log.txt").read_text(),
    }


def test_all_faces_advise_the_same_value_for_a_setting(broken: Run, tmp_path: Path):
    advised = {str(f.changes["algo.lr"]) for f in diagnose(broken).findings if f.changes}
    assert advised == {"0.001 -> 0"}
    assert len([a for a in broken.info["alerts"] if "algo.lr" in a["advice"]]) >= 2
    for face, text in faces(broken, tmp_path).items():
        # as --set takes it, as JSON, and as an argument of a tool
        values = re.findall(
            r"""algo\.lr\\?["']?[=:] *\\?["']?(\d[\d.e+]*(?: ?-(?:>|&gt;) ?[\d.e+-]+)?)""", text
        )
        values = {value.replace("&gt;", ">") for value in values} - {"0.1"}  # that of the run
        assert values <= advised, (face, values)
        if face in ("doctor", "doctor --json", "review", "mcp"):
            assert values == advised, face


def test_alerts_name_the_direction_and_leave_the_value_to_the_doctor(broken: Run):
    for alert in broken.info["alerts"]:
        numbers = re.findall(r"\d\S*", alert["advice"].replace("(now 0.1)", ""))
        assert not numbers, alert["advice"]
        if "algo.lr" in alert["advice"]:
            assert "ower algo.lr (now 0.1)" in alert["advice"]


def test_values_that_an_older_version_stored_with_an_alert_are_not_shown():
    stored = {"id": "policy/kl:high", "level": "warning", "message": "high", "first": 1, "last": 2}
    stored |= {"count": 1, "active": True, "changes": {"algo.lr": 0.05}}
    advice = "Updates are too large. Try algo.lr=0.05 (now 0.1)."
    assert Alert.from_stored(stored | {"advice": advice}).advice == "Updates are too large."


# ---- the patch ------------------------------------------------------------------------------------


def alert(id: str, count: int = 99) -> dict[str, Any]:
    known = {"level": "warning", "message": f"{id} is bad", "advice": "", "first": 500, "last": 900}
    return {"id": id, "count": count, "active": True} | known


def diagnosed(
    settings: dict[str, Any],
    alerts: list[dict[str, Any]],
    reference: Reference | None = None,
    **given: Any,
) -> Diagnosis:
    """Diagnoses a failed run with these settings and alerts, compared with a reference, by default its
    preset."""
    preset = "CartPole-v1:ppo"
    row = {"episode/return": 20.0, "policy/kl": 1e-6, "optim/update_share": 1e-5, "hyper/lr": 0.1}
    rows = [row | {"clock/env_steps": 100.0 * i} for i in range(1, 301)]
    info: dict[str, Any] = {"id": "x", "preset": preset, "env": "CartPole-v1", "alerts": alerts}
    info |= {"status": "finished", "reason": "", "solved": False, "threshold": 475.0}
    info["score"] = {"mean": 20.0, "low": 19.0, "high": 21.0, "episodes": 20}
    config = flat_values(resolve(preset, settings).config)
    info |= given
    return diagnose_rows(
        cast("RunInfo", info), rows, config, None, reference or reference_for(preset)
    )


def test_the_patch_is_that_of_the_first_finding_that_has_changes():
    found = diagnosed(
        {"algo.lr": 0.1}, [alert("rollout/action_effect:none"), alert("policy/kl:high")]
    )
    assert not found.findings[0].changes
    assert found.changes == {"algo.lr": "0.001 -> 0"}


def test_applying_a_diagnosis_without_changes_fails_and_says_so():
    """A short run with the settings of the preset: there is nothing to change."""
    run = train("CartPole-v1", overrides=FAST | {"stop.env_steps": 2048}, quiet=True)
    assert not diagnose(run).changes
    before = len(api.runs().runs)
    words = ["doctor", run.id, "--apply"]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert result.return_value == 1
    assert "proposes no change" in result.stderr
    result = CliRunner().invoke(cli, [*words, "--json"], standalone_mode=False)
    assert result.return_value == 1
    assert json.loads(result.stdout)["treated"]["ok"] is False
    assert len(api.runs().runs) == before


def test_findings_propose_the_same_value_for_a_setting():
    """There is no preset, so that each of them follows from other metrics."""
    alerts = [alert("policy/kl:high"), alert("network/saturated_units:high")]
    found = diagnosed({"algo.lr": 0.1, "normalize.obs": "running"}, alerts, Reference())
    assert [dict(f.changes) for f in found.findings] == [{"algo.lr": 0.05}] * 2


def test_findings_do_not_contradict_each_other_about_a_setting():
    alerts = [alert("policy/kl:high"), alert("policy/kl:frozen", 1)]
    found = diagnosed({"algo.lr": 0.1}, alerts, Reference())
    assert [f.cause for f in found.findings] == [TOO_LARGE_STEPS, TOO_SMALL_STEPS]
    assert [dict(f.changes) for f in found.findings] == [{"algo.lr": 0.05}, {}]


# ---- ranking ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_steps", [2048, 8192])
@pytest.mark.parametrize("lr", [0.1, 1e6])
def test_a_learning_rate_far_from_the_preset_ranks_before_the_budget(lr: float, env_steps: int):
    """The shorter runs ended before an alert was raised. With a learning rate of 1e6, every update is
    dropped."""
    run = train(
        "CartPole-v1", overrides=FAST | {"stop.env_steps": env_steps, "algo.lr": lr}, quiet=True
    )
    found = diagnose(run)
    first = found.findings[0]
    assert first.cause == TOO_LARGE_STEPS or any(
        "algo.lr is 0.1" in text for text in first.evidence
    )
    assert found.changes == {"algo.lr": "0.001 -> 0"}
    if lr == 1e6:
        assert any("updates broke the policy and were dropped" in text for text in first.evidence)


def test_the_budget_is_not_blamed_for_a_flat_curve_with_other_settings():
    rows = [
        {"clock/env_steps": 10.0 * i, "episode/return": 20.0, "episode/return_std": 5.0}
        for i in range(40)
    ]
    rising = [row | {"episode/return": 20.0 + 2 * i} for i, row in enumerate(rows)]
    reference = reference_for("CartPole-v1:ppo")
    same, other = dict(reference.settings), dict(reference.settings) | {"algo.gamma": 0.9}
    blamed = [
        any("budget" in f.cause for f in find_suspects(settings, curve, reference, ()))
        for settings, curve in ((other, rows), (other, rising), (same, rows))
    ]
    assert blamed == [False, True, True]


def test_the_budget_is_not_blamed_for_a_flat_curve_in_another_environment_or_a_reached_threshold():
    row = {"episode/return": -60.0, "eval:episode/low": -60.0}
    rows = [row | {"clock/env_steps": 2000.0 * i} for i in range(1, 5)]
    reference = reference_for("Acrobot-v1:ppo")
    settings = dict(reference.settings)
    for changed, curve, blamed in (
        ({"facts.threshold": -50}, rows, True),
        ({"facts.threshold": -50, "env.max_episode_steps": 60}, rows, False),
        ({}, rows, False),
        ({}, [one | {"eval:episode/low": -500.0} for one in rows], True),
    ):
        found = find_suspects(settings | changed, curve, reference, ())
        assert any("budget" in f.cause for f in found) is blamed, changed


# ---- roles ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "patched"),
    [
        ({"roles.seeker.set": {"algo.lr": 100.0}}, "roles.seeker.set.algo.lr"),
        ({"algo.lr": 100.0}, "algo.lr"),
    ],
)
def test_the_alert_of_a_role_has_a_cause_and_patches_the_setting_of_that_role(settings, patched):
    small = {"env.n_envs": 4, "env.kwargs": {"time_limit": 12}, "algo.n_steps": 16}
    run = train_small(
        "tag", small | {"stop.env_steps": 12 * 16 * 4, "eval.every": "off"} | settings
    )
    assert is_multi_agent(run.info["env"])
    raised = {a["id"]: a for a in run.info["alerts"]}
    assert raised["seeker:optim/rollbacks:high"]["advice"].endswith("Lower algo.lr (now 100.0).")
    found = diagnose(run)
    named = next(f for f in found.findings if f.cause == TOO_LARGE_STEPS)
    assert "seeker:optim/rollbacks:high" in named.alerts
    assert any("seeker" in text for text in named.evidence)
    assert list(named.changes) == [patched]
    assert direction(100.0, named.changes[patched]) == -1


@pytest.mark.parametrize("key", ["roles.hider.set.algo.lr", "algo.lr"])
def test_dropped_updates_of_a_role_are_found_before_an_alert_and_the_advice_is_not_absurd(key: str):
    reference = Reference({"algo.lr": 1e-3})
    settings = {"algo.lr": 1e-3, key: 1e6}
    rows = [
        {"clock/env_steps": 100.0 * i, "hider:optim/rollbacks": 2.0, "seeker:optim/rollbacks": 0.0}
        for i in range(1, 3)
    ]
    (finding,) = find_suspects(settings, rows, reference, ())
    assert finding.cause == TOO_LARGE_STEPS
    assert finding.evidence == ["hider: 2 of 2 updates broke the policy and were dropped"]
    assert propose(finding.changes, settings, reference) == {key: 1e-3}


def test_the_checks_of_a_role_use_its_own_settings():
    settings = {"algo.gamma": 0.99, "roles.seeker.set.algo.gamma": 0.5}
    alerts = Alerts(METRICS, settings, roles=["seeker", "hider"])
    for number in range(1, 9):
        row = {"clock/env_steps": 100.0 * number, "clock/rollouts": float(number)}
        alerts.check_row(row | {"seeker:episode/length": 300.0, "hider:episode/length": 300.0})
    assert [a.id for a in alerts.active()] == ["seeker:episode/length:shortsighted"]
    assert "Raise algo.gamma (now 0.5)" in alerts.active()[0].advice


# ---- which runs are examined --------------------------------------------------------------------------


def test_an_unconfirmed_run_is_examined():
    score = {"mean": 480.0, "low": 470.0, "high": 490.0, "episodes": 20}
    found = diagnosed({"algo.gamma": 0.9}, [], score=score)
    assert (found.outcome.kind, found.healthy) == ("unconfirmed", False)
    assert [dict(f.changes) for f in found.findings] == [{"algo.gamma": 0.98}]
    assert found.changes
    assert not diagnosed({"algo.gamma": 0.9}, [], score=score, solved=True).findings
