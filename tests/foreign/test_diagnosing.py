"""The doctor on runs that other programs made: verdict, causes, advice in their words, missing checks."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import GymnastError
from gymnast.foreign.libraries import CLEANRL as CLEANRL_NAMES
from gymnast.foreign.run import ForeignRun
from gymnast.insight.causes import CAUSES
from gymnast.insight.foreign_outcome import foreign_outcome
from gymnast.records import to_json
from tests.cli_output import cli_output
from tests.foreign.runs import (
    ALL,
    CLEANRL,
    EVENTS,
    LARGE_ENT_COEF,
    LARGE_LR,
    PPO,
    SB3,
    TINY_LR,
    WANDB,
)


def test_a_healthy_run_of_sb3_is_solved_by_its_evaluations() -> None:
    found = api.doctor(str(PPO))
    assert found.foreign is not None
    assert (found.healthy, found.foreign.verdict, found.foreign.score_kind) == (
        True,
        "solved",
        "evaluation",
    )
    assert "475.0 (of CartPole-v1)" in found.outcome.text


def test_a_return_that_reached_the_threshold_from_the_start_and_never_changed_is_doubtful(
    tmp_path: Path,
) -> None:
    """A time limit of 60 gives Acrobot a return of -60, whatever the policy does."""
    rows = [f"{i * 2048},-60.0" for i in range(1, 21)]
    file = tmp_path / "progress.csv"
    file.write_text("\n".join(["time/total_timesteps,rollout/ep_rew_mean", *rows]) + "\n")
    found = api.doctor(str(file), env="Acrobot-v1")
    assert found.foreign is not None
    assert (found.outcome.kind, found.foreign.verdict) == ("doubtful", "stalled")
    assert found.healthy is False
    assert "reached it from the first value on" in found.outcome.text
    file.write_text(file.read_text().replace("\n2048,-60.0", "\n2048,-500.0"))
    risen = api.doctor(str(file), env="Acrobot-v1")
    assert (risen.outcome.kind, risen.healthy) == ("solved", True)


def test_a_learning_rate_that_is_too_large_is_found_and_named_as_sb3_names_it() -> None:
    found = api.doctor(str(LARGE_LR), env="CartPole-v1")
    assert found.foreign is not None
    assert (found.healthy, found.foreign.verdict) == (False, "collapsed")
    assert found.findings[0].cause == "the learning rate is too large"
    assert found.findings[0].changes == found.changes == {"learning_rate": 0.0005}
    assert "1.39 nats" in found.findings[0].evidence[0]


def test_a_learning_rate_that_is_too_small_is_found_by_updates_that_change_nothing() -> None:
    found = api.doctor(str(TINY_LR), env="CartPole-v1")
    assert found.foreign is not None
    assert found.foreign.verdict == "stalled"
    assert found.findings[0].cause == "the learning rate is too small"
    assert list(found.changes) == ["learning_rate"]
    assert 1e-6 < float(str(found.changes["learning_rate"])) < 1e-3  # it was 1e-7
    assert "the learning rate is too small" in found.foreign.checked
    # a run that collapsed to a deterministic policy has no KL either
    collapsed = api.doctor(str(LARGE_LR), env="CartPole-v1")
    assert "the learning rate is too small" not in [one.cause for one in collapsed.findings]


def test_an_entropy_bonus_that_is_too_large_is_found_if_the_run_records_it() -> None:
    found = api.doctor(str(LARGE_ENT_COEF), env="CartPole-v1")
    assert found.foreign is not None
    assert found.foreign.verdict == "stalled"
    assert found.findings[0].cause == "the entropy bonus is too large"
    assert found.changes == {"ent_coef": 0.01}


def test_an_entropy_bonus_that_is_not_recorded_is_neither_blamed_nor_excluded(
    tmp_path: Path,
) -> None:
    shutil.copy(LARGE_ENT_COEF / "progress.csv", tmp_path)
    found = api.doctor(str(tmp_path), env="CartPole-v1")
    assert found.findings[0].cause.startswith("the policy stays uniform")
    assert "check ent_coef, which the run does not record" in found.findings[0].advice
    assert found.changes == {}


@pytest.mark.parametrize("path", [CLEANRL, WANDB], ids=["events", "wandb"])
def test_a_run_of_cleanrl_that_improves_is_learning(path: Path) -> None:
    found = api.doctor(str(path))
    assert found.foreign is not None
    assert (found.healthy, found.foreign.verdict) == (True, "learning")
    assert found.foreign.library == "CleanRL"
    assert found.foreign.hyperparameters["clip_coef"] == "0.2"


@pytest.mark.parametrize("path", ALL, ids=str)
def test_every_cause_is_checked_or_says_which_metrics_are_missing(path: Path) -> None:
    found = api.doctor(str(path)).foreign
    assert found is not None
    names = [*found.checked, *(one.check for one in found.not_checked)]
    assert sorted(names) == sorted(cause.name for cause in CAUSES)
    assert all(one.missing for one in found.not_checked)


def test_missing_metrics_and_hyperparameters_are_named() -> None:
    found = api.doctor(str(LARGE_LR)).foreign
    assert found is not None
    missing = {one.check: one.missing for one in found.not_checked}
    assert missing["many hidden units are dead"] == ["network/dead_units"]
    assert missing["gamma is too small"] == ["hyperparameter gamma"]
    assert missing["the policy stopped exploring too early"] == ["policy/entropy_share"]
    assert "the learning rate is too large" in found.checked


def test_without_an_environment_the_threshold_is_unknown_and_can_be_given() -> None:
    found = api.doctor(str(EVENTS))
    assert "no threshold is known" in found.outcome.text
    assert found.foreign is not None
    assert (found.foreign.env, found.foreign.verdict) == ("", "learning")
    solved = api.doctor(str(EVENTS), threshold=450.0)
    assert solved.foreign is not None
    assert solved.foreign.verdict == "solved"
    by_env = api.doctor(str(EVENTS), env="CartPole-v1")
    assert by_env.foreign is not None
    assert by_env.foreign.verdict == "solved"


def test_nan_in_a_loss_outranks_every_other_cause(tmp_path: Path) -> None:
    rows = "".join(f"{100 * i},10.0,{'nan' if i > 5 else 1.0}\n" for i in range(1, 20))
    head = "time/total_timesteps,rollout/ep_rew_mean,train/value_loss\n"
    (tmp_path / "progress.csv").write_text(head + rows)
    found = api.doctor(str(tmp_path))
    assert found.healthy is False
    assert found.findings[0].cause == "value/loss is nan"


def test_a_cut_file_is_diagnosed_and_the_damage_is_reported(tmp_path: Path) -> None:
    data = CLEANRL.read_bytes()
    (tmp_path / "events.out.tfevents.1.host").write_bytes(data[: len(data) - 30])
    output = cli_output("doctor", str(tmp_path))
    assert "damaged: events.out.tfevents.1.host: the file is cut after" in output
    assert "learning: the training return rose" in output


def test_the_command_prints_the_verdict_the_advice_and_what_was_not_checked() -> None:
    output = cli_output("doctor", str(LARGE_LR), "--env", "CartPole-v1")
    assert "collapsed: the training return fell" in output
    assert "try learning_rate=0.0005 (now 0.05)" in output
    line = "not checked: many hidden units are dead, because the run has no network/dead_units"
    assert line in output
    assert "--set" not in output
    assert "algo." not in output


def test_the_json_of_the_command_is_the_record_of_the_api() -> None:
    expected = json.loads(json.dumps(to_json(api.doctor(str(CLEANRL)))))
    assert json.loads(cli_output("doctor", str(CLEANRL), "--json"))["diagnoses"] == [expected]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([str(LARGE_LR), "--apply"], "which gymnast cannot train again"),
        ([str(SB3.parent / "README.md")], "is no run in a format that can be read"),
        ([str(SB3)], "has 5 runs"),
        ([str(SB3 / "nowhere" / "progress.csv")], "does not exist"),
    ],
)
def test_a_mistake_is_an_error_with_its_remedy(arguments: list[str], words: str) -> None:
    with pytest.raises(GymnastError, match=words) as caught:
        cli_output("doctor", *arguments)
    assert caught.value.fix


CURVES = {
    "learning": [20 + 4 * i for i in range(50)],
    "stalled": [20 + 2 * (-1) ** i for i in range(50)],
    "collapsed": [20 + 4 * i if i < 25 else 30 for i in range(50)],
}


@pytest.mark.parametrize("verdict", CURVES)
@pytest.mark.parametrize("scale", [1.0, 1000.0, 0.01])
@pytest.mark.parametrize("offset", [0.0, -5000.0])
def test_the_verdict_depends_neither_on_scale_nor_on_offset(
    verdict: str, scale: float, offset: float
) -> None:
    run = _run([scale * (value + offset) for value in CURVES[verdict]])
    assert foreign_outcome(run)[1] == verdict


def test_a_rise_that_ends_long_before_the_end_has_stalled() -> None:
    values = [20 + 4 * min(i, 20) + (-1) ** i for i in range(100)]
    values = [value - 0.02 * i for i, value in enumerate(values)]
    assert foreign_outcome(_run(values))[1] == "stalled"


def test_few_values_have_no_verdict() -> None:
    outcome, verdict, _ = foreign_outcome(_run([1.0, 2.0]))
    assert (outcome.kind, verdict) == ("unknown", "unknown")


def _run(returns: list[float]) -> ForeignRun:
    rows = tuple(
        {"clock/env_steps": 100.0 * (i + 1), "episode/return": value}
        for i, value in enumerate(returns)
    )
    assert all(math.isfinite(value) for value in returns)
    return ForeignRun(
        id="run",
        path="run",
        format="rows",
        files=(),
        library=CLEANRL_NAMES,
        rows=rows,
        hyperparameters={},
        settings={},
        env="",
        threshold=None,
        threshold_source="",
        n_actions=None,
        ended=None,
        problems=(),
        notes=(),
    )
