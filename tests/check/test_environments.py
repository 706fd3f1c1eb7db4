"""`gymnast check`: every planted mistake is found, by the check that is for it and by no other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from gymnast.check.environment import check_environment
from gymnast.check.finding import CHECKS, Report
from gymnast.cli.check import check
from gymnast.config.resolve import resolve
from tests.check.planted import FACTS, HEALTHY

STEPS = 400

PLANTED = {
    "CannotBeMade": ("made", "FileNotFoundError: the map is missing"),
    "OnlyOnce": ("made", "one was made, another cannot be"),
    "Tells": ("spaces", "Text observations"),
    "TakesNoSeed": ("reset", "unexpected keyword argument 'seed'"),
    "OldReset": ("reset", "not (observation, info)"),
    "OldStep": ("step", "returned 4 values"),
    "Raises": ("step", "raised ZeroDivisionError"),
    "Exits": ("step", "raised SystemExit: enough"),
    "LeavesItsSpace": ("observation", "its space says [-20, 20]"),
    "AnotherShape": ("observation", "shape (1,), its space says (2,)"),
    "NotANumber": ("finite", "not finite at index [0]"),
    "EndlessPay": ("finite", "the reward is inf"),
    "SharedLuck": ("deterministic", "it draws from numpy.random"),
    "SharedPay": ("deterministic", "it draws from numpy.random"),
    "OwnGenerator": ("seed", "it draws from its rng"),
    "Remembers": ("past", "what was played before a reset changes the episode"),
    "OneArray": ("aliasing", "return a copy"),
    "BothEnds": ("ends", "terminated and truncated at once"),
    "LimitAsEnd": ("time limit", "exactly 12 steps, its max_steps: say truncated"),
    "FearsTheEdge": ("actions", "raised ZeroDivisionError: log(1 - x)"),
    "WritesIntoActions": ("actions", "wrote into the action"),
    "AllowsNothing": ("mask", "allows no action"),
    "ForgetsItsMask": ("mask", "is missing here"),
    "DrawsNumbers": ("rendering", "not a picture"),
    "CannotDraw": ("rendering", "RuntimeError: no brush"),
    "PaysTooMuch": ("facts.reward", "the reward is 3, declared is [-1, 1]"),
}
"""Class -> the check that must find it, and words of what it says."""

CONTINUOUS = ("FearsTheEdge", "WritesIntoActions")
FALSE_FACTS = {
    "facts.actions": (["left"], "1 labels for 2 actions"),
    "facts.keys": ({"left": 7}, "left stand for no action"),
    "facts.observations": ([{"name": "place", "low": 0, "high": 1}], "1 parts are declared"),
    "facts.reward": ([0, 1], "the reward is -1, declared is [0, 1]"),
    "facts.returns": ([30, 40], "declared is [30, 40]"),
}


def checked(name: str, **facts: Any) -> Report:
    declared = FACTS | facts
    if name in CONTINUOUS:
        declared = declared | {"facts.actions": ["way"], "facts.keys": {"left": [-1.0]}}
    if facts.get("facts.returns"):
        declared = declared | {"facts.threshold": 30}
    cfg = resolve(f"py:tests.check.planted:{name}", declared).config
    return check_environment(name, cfg, steps=STEPS)


def test_a_healthy_environment_has_nothing_wrong_and_every_check_was_made():
    report = checked("Healthy")
    assert {f.check: f.what for f in report.findings if f.verdict == "wrong"} == {}
    assert report.steps == STEPS
    untold = set(CHECKS) - {finding.check for finding in report.findings}
    assert untold == {"mask", "metrics", "facts"}  # it has none, asks for none, lacks none
    ends = next(f.what for f in report.findings if f.check == "ends")
    assert "0 terminated" not in ends


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found_by_exactly_the_check_for_it(name: str):
    check, words = PLANTED[name]
    report = checked(name)
    assert [finding.check for finding in report.wrong] == [check]
    (found,) = report.wrong
    assert words in found.what
    assert found.means == CHECKS[check]
    raised = "raised" in words or name in ("CannotBeMade", "OnlyOnce", "CannotDraw")
    if raised:
        assert "planted.py" in found.traceback
        assert "gymnast/check" not in found.traceback


@pytest.mark.parametrize("fact", FALSE_FACTS)
def test_a_false_fact_is_found_by_exactly_the_check_for_it(fact: str):
    declared, words = FALSE_FACTS[fact]
    (found,) = checked("Healthy", **{fact: declared}).wrong
    assert found.check == fact
    assert words in found.what


def test_another_pace_than_the_environments_own_is_noted():
    report = checked("Healthy", **{"facts.fps": 30})
    assert report.wrong == []
    told = next(f for f in report.findings if f.check == "facts.fps")
    assert told.verdict == "note"
    assert "declared are 30, and used" in told.what


def test_a_declared_bound_that_an_observation_leaves_is_named():
    parts = [{"name": "place", "low": -1, "high": 1}, {"name": "wind", "low": -1, "high": 1}]
    (found,) = checked("Healthy", **{"facts.observations": parts}).wrong
    assert found.check == "facts.observations"
    assert found.what.startswith("place is ")
    assert "episode" in found.where


def test_what_declares_itself_not_deterministic_may_be_so():
    report = checked("SharedLuck", **{"facts.deterministic": "no"})
    assert report.wrong == []
    told = next(f for f in report.findings if f.check == "deterministic")
    assert told.verdict == "note"


def test_a_declared_number_that_no_info_has_is_found():
    metric = {"metrics.env/success": {"source": "success", "description": "Reached."}}
    (found,) = checked("Healthy", **metric).wrong
    assert found.check == "metrics"
    assert "success" in found.what


def test_the_same_check_twice_says_the_same():
    untimed = [
        [(f.check, f.verdict, f.what) for f in checked("Raises").findings if "ms" not in f.what]
        for _ in range(2)
    ]
    timeless = [[line for line in lines if line[0] != "speed"] for lines in untimed]
    assert timeless[0] == timeless[1]


def invoke(*words: str) -> Any:
    return CliRunner().invoke(check, [*words, "--steps", "100"], standalone_mode=False)


def test_the_command_answers_in_a_table_with_an_exit_code_and_shows_their_traceback():
    good, bad = invoke(HEALTHY), invoke("py:tests.check.planted:Raises")
    assert (good.return_value, bad.return_value) == (0, 1)
    assert "nothing is wrong" in good.stdout
    assert "WRONG  step" in bad.stdout
    assert "1.0 / (0 if self.place > 4 else 1)" in bad.stdout
    assert "1 thing wrong" in bad.stdout


def test_the_command_answers_in_json():
    answer = json.loads(invoke("py:tests.check.planted:Raises", "--json").stdout)
    assert answer["wrong"] == 1
    (found,) = [f for f in answer["findings"] if f["verdict"] == "wrong"]
    assert found["check"] == "step"
    assert {"what", "where", "means", "traceback"} <= set(found)


def test_what_is_allowed_is_noted_and_nothing_else():
    target = "py:tests.check.planted:LimitAsEnd"
    assert invoke(target).return_value == 1
    allowed = invoke(target, "--allow", "time limit")
    assert allowed.return_value == 0
    assert "allowed: all" in allowed.stdout
    refused = invoke(target, "--allow", "time")
    assert "did you mean time limit?" in str(refused.exception)


def test_a_name_that_is_nobodys_is_an_error_as_ever():
    refused = invoke("CartPol-v1")
    assert "did you mean CartPole-v1" in str(refused.exception)
    assert "name one environment" in str(invoke().exception)


def test_a_missing_time_limit_is_a_warning_unless_it_is_stated_or_set():
    found = invoke("CliffWalking-v1")
    assert found.return_value == 0
    assert "WARN  time limit" in found.stdout
    assert "nothing is wrong, 1 warning" in found.stdout
    for fine in (["CliffWalking-v1", "--set", "env.max_episode_steps=99"], ["Bandit-v0"]):
        assert "WARN" not in invoke(*fine).stdout
