"""A program that proposes trials: what it gets, which answers are used, and what happens otherwise."""

from __future__ import annotations

import json
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gymnast import api
from gymnast.config.plain_value import PlainValue
from gymnast.errors import CommandFailed
from gymnast.settings import ProposeCommand
from gymnast.sweep import proposal_request
from gymnast.sweep.decide import Plan
from gymnast.sweep.history import History, Measurement, Trial, Unit
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.parameter import Choices, Range
from gymnast.sweep.process import MAX_ANSWER, REQUEST, CommandProposer, Refused, read_answer
from gymnast.sweep.proposal_request import request_line
from gymnast.sweep.space import Space
from tests.sweep.synthetic import synthetic_study, write_study

SPACE = Space(
    "CartPole-v1:ppo",
    (
        Range("algo.lr", 1e-5, 1e-1, log=True),
        Choices("algo.epochs", (4, 8, 16)),
        Choices("policy.memory", ("off", "gru:16")),
        Range("policy.bptt", 8, 64, whole=True, when={"policy.memory": ("gru:16",)}),
    ),
)
PLAN = Plan(SearchOptions(trials=20, total_env_steps=10_000), Objective("score"), (100, 300, 900))
FIRST: dict[str, PlainValue] = {"algo.lr": 1e-3, "algo.epochs": 8, "policy.memory": "off"}
SECOND: dict[str, PlainValue] = {**FIRST, "policy.memory": "gru:16", "policy.bptt": 16}


def history(*returns: float) -> History:
    """Returns the baseline and two trials with these final returns; one more that is being trained."""
    assignments = (None, FIRST, SECOND, {**FIRST, "algo.epochs": 4})
    trials = [Trial(i, one, SPACE.trial_settings(one)) for i, one in enumerate(assignments)]
    units = [Unit(i, i, 0, 900) for i in range(len(assignments))]
    results = {
        i: Measurement("reached", [(300.0, 0.0), (900.0, value)], env_steps=900)
        for i, value in enumerate(returns)
    }
    return History(tuple(trials), tuple(units), results)


VIEW = history(10.0, 30.0, 20.0)


def proposer(code: str, folder: Path, timeout: float = 60.0) -> CommandProposer:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return CommandProposer("mine", ProposeCommand(command=command, timeout=timeout), folder)


def answer(**fields: object) -> dict[str, PlainValue]:
    return read_answer(json.dumps(fields), SPACE, PLAN, VIEW)


def test_a_patch_changes_the_best_trial_or_the_one_that_it_names():
    assert answer(config={"algo.lr": 0.01}) == {**FIRST, "algo.lr": 0.01}
    assert answer(config={"algo.lr": 0.01}, base=2, note="why") == {**SECOND, "algo.lr": 0.01}
    other = answer(config={"policy.memory": "off", "algo.epochs": 16}, base=2)
    assert other == {**FIRST, "algo.epochs": 16}  # without the parameter that is not used any more


def test_without_any_trial_the_answer_must_name_every_parameter():
    whole = json.dumps({"config": FIRST})
    assert read_answer(whole, SPACE, PLAN, History()) == FIRST
    with pytest.raises(Refused, match="epochs: is missing"):
        read_answer(json.dumps({"config": {"algo.lr": 0.1}}), SPACE, PLAN, History())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("I would try a lower learning rate.", "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ('{"config": {"algo.lr": NaN}}', "NaN is no JSON number"),
        ('{"config": {"algo.lr": 0.5}}', "algo.lr: 0.5 is outside of the space"),
        ('{"config": {"algo.lr": "0.01"}}', "algo.lr: '0.01' is outside of the space"),
        ('{"config": {"algo.epochs": 5}}', "algo.epochs: 5 is outside of the space"),
        ('{"config": {"algo.learning_rate": 0.1}}', "is not a parameter of the space"),
        ('{"config": {"policy.module": "py:os:system"}}', "is not a parameter of the space"),
        ('{"config": {"algo.lr": 0.01, "policy.bptt": 8}}', "is not used with the other values"),
        ('{"config": {}}', 'no "config"'),
        ('{"config": [1]}', 'no "config"'),
        ('{"settings": {"algo.lr": 0.01}}', "unknown key 'settings'"),
        ('{"config": {"algo.lr": 0.01}, "base": 0}', "the baseline"),
        ('{"config": {"algo.lr": 0.01}, "base": 99}', "which is no trial"),
        ('{"config": {"algo.lr": 0.01}, "base": true}', "which is no trial"),
        ('{"config": {"algo.epochs": 8}}', "the settings of trial 1, which was tried already"),
        ('{"config": {"algo.epochs": 4}}', "the settings of trial 3, which was tried already"),
        ("x" * (MAX_ANSWER + 1), "characters"),
    ],
    ids=lambda value: value[:40],
)
def test_answers_that_cannot_be_used_are_refused_with_the_reason(text: str, problem: str):
    with pytest.raises(Refused) as raised:
        read_answer(text, SPACE, PLAN, VIEW)
    assert problem in str(raised.value)


def test_lines_before_the_last_are_ignored():
    text = f"thinking...\n{json.dumps({'config': {'algo.lr': 0.02}})}"
    assert read_answer(text, SPACE, PLAN, VIEW)["algo.lr"] == 0.02


def test_the_program_gets_the_space_the_trials_and_what_is_left():
    request = json.loads(request_line(SPACE, PLAN, VIEW, 4))
    assert (request["version"], request["number"], request["best"]) == (1, 4, 1)
    assert [one["name"] for one in request["parameters"]] == [p.name for p in SPACE.parameters]
    assert request["parameters"][3]["when"] == {"policy.memory": ["gru:16"]}
    assert [one["config"] for one in request["trials"]] == [t.assignment for t in VIEW.trials]
    assert [one["status"] for one in request["trials"]] == [*["measured"] * 3, "training"]
    assert [one["curve"][-1][1] for one in request["trials"][:3]] == [10.0, 30.0, 20.0]
    assert request["trials_left"] == PLAN.n_trials - 4
    assert request["env_steps_left"] == 10_000 - 3 * 900


def test_a_line_has_a_limited_number_of_trials_and_points(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(proposal_request, "MAX_TRIALS", 2)
    monkeypatch.setattr(proposal_request, "MAX_POINTS", 3)
    curve = [(float(i), float(i)) for i in range(1, 901)]
    view = History(VIEW.trials, VIEW.units, {1: Measurement("reached", curve, env_steps=900)})
    shown = json.loads(request_line(SPACE, PLAN, view, 4))["trials"]
    assert [one["number"] for one in shown] == [1, 3]  # the best and the newest
    assert len(shown[0]["curve"]) == 3
    assert shown[0]["curve"][-1] == [900.0, 900.0]


HILL_CLIMBER = """
    import json, sys
    request = json.loads(sys.stdin.readline())
    best = next((t for t in request["trials"] if t["number"] == request["best"]), None)
    if best is None:
        names = {p["name"]: p.get("low", (p.get("choices") or [0])[0]) for p in request["parameters"]}
        names.pop("policy.bptt")
        print(json.dumps({"config": names}))
    else:
        print(json.dumps({"config": {"algo.lr": best["config"]["algo.lr"] * 1.5}}))
"""


def test_a_program_proposes_a_whole_search_that_climbs(tmp_path: Path):
    """The value of a trial is its learning rate, so that the search must go up."""
    mine = proposer(HILL_CLIMBER, tmp_path)
    view = History()
    for number in range(5):
        assignment = mine.propose(SPACE, PLAN, view, number)
        result = Measurement("reached", [(900.0, float(str(assignment["algo.lr"])))], env_steps=900)
        view = History(
            (*view.trials, Trial(number, assignment, {})),
            (*view.units, Unit(number, number, 0, 900)),
            {**view.results, number: result},
        )
    rates: list[Any] = [trial.assignment["algo.lr"] for trial in view.trials if trial.assignment]
    assert rates == pytest.approx([1e-5 * 1.5**k for k in range(5)])


def test_a_wrong_answer_is_returned_to_the_program_once_with_the_reason(tmp_path: Path):
    code = """
        import json, sys
        request = json.loads(sys.stdin.readline())
        wrong = "problem" not in request or "outside of the space" not in request["problem"]
        print(json.dumps({"config": {"algo.lr": 7 if wrong else 0.05}}))
    """
    assert proposer(code, tmp_path).propose(SPACE, PLAN, VIEW, 4)["algo.lr"] == 0.05
    sent = json.loads((tmp_path / REQUEST).read_text())
    assert json.loads(sent["rejected"]) == {"config": {"algo.lr": 7}}


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ('print(\'{"config": {"algo.lr": 7}}\')', "algo.lr: 7 is outside of the space"),
        ("print('no idea')", "not JSON"),
        ("raise SystemExit(3)", "failed with exit code 3"),
        ("import time; time.sleep(600)", "did not finish within 0.5 s"),
        ("pass", "printed no answer"),
        ("while True: print('x' * 100000)", "characters (expected at most"),
    ],
    ids=["outside", "words", "exit code", "slow", "silent", "endless"],
)
def test_a_program_that_fails_twice_is_an_error_that_says_how_to_run_it(
    code: str, problem: str, tmp_path: Path
):
    mine = proposer(code, tmp_path, timeout=0.5 if "sleep" in code else 60.0)
    with pytest.raises(CommandFailed) as raised:
        mine.propose(SPACE, PLAN, VIEW, 4)
    assert "'mine' failed 2 times to propose trial 4" in str(raised.value)
    assert problem in str(raised.value)
    assert str(tmp_path / REQUEST) in raised.value.fix


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("interrupted\nerror: no answer\n  fix: run it\n", "no answer fix: run it"),
        ("error: no answer\n  fix: run it\n", "no answer fix: run it"),
        ("error: no answer\ninterrupted\n", ""),
        ("interrupted\n", ""),
    ],
)
def test_the_error_that_interrupted_a_study_is_its_reason(log: str, reason: str, runs_dir: Path):
    study = write_study(runs_dir, state=synthetic_study(3, confirmed=False))
    (study.path / "log.txt").write_text(log)
    (listed,) = api.sweep_list(runs_dir=runs_dir)
    assert (listed.status, listed.reason) == ("interrupted", reason)


def test_an_answer_that_equals_the_baseline_is_refused():
    space = replace(SPACE, settings=SPACE.overrides(FIRST))
    with pytest.raises(Refused, match="the settings of the baseline, which is trial 0"):
        read_answer(json.dumps({"config": FIRST}), space, PLAN, History())
