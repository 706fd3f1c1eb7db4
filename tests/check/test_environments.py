"""`gymnast check`: every planted mistake is found by its own check and by no other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from gymnast.check.checked_env import Timestep
from gymnast.check.environment import check_environment
from gymnast.check.episode_ends import EpisodeEndCheck
from gymnast.check.finding import CHECKS, CheckReport
from gymnast.cli.check import check
from gymnast.config.resolve import resolve
from tests.check.planted import FACTS, HEALTHY, Healthy

STEPS = 400

PLANTED = {
    "CannotBeMade": ("made", "FileNotFoundError: the map is missing"),
    "OnlyOnce": ("made", "a second copy cannot be created"),
    "TextObservation": ("spaces", "Text observations"),
    "TakesNoSeed": ("reset", "unexpected keyword argument 'seed'"),
    "OldReset": ("reset", "not (observation, info)"),
    "OldStep": ("step", "returned 4 values"),
    "Raises": ("step", "raised ZeroDivisionError"),
    "Exits": ("step", "raised SystemExit: enough"),
    "LeavesItsSpace": ("observation", "its space says [-20, 20]"),
    "AnotherShape": ("observation", "shape (1,), its space says (2,)"),
    "NotANumber": ("finite", "not finite at index [0]"),
    "EndlessPay": ("finite", "the reward is inf"),
    "GlobalGenerator": ("deterministic", "it draws from the global numpy.random"),
    "GlobalGeneratorReward": ("deterministic", "it draws from the global numpy.random"),
    "OwnGenerator": ("seed", "it draws from its rng"),
    "Remembers": ("past", "episodes before a reset change the episode"),
    "OneArray": ("aliasing", "return a copy"),
    "BothEnds": ("ends", "both terminated and truncated"),
    "LimitAsEnd": ("time limit", "exactly 12 steps, its max_steps: return truncated"),
    "FearsTheEdge": ("actions", "raised ZeroDivisionError: log(1 - x)"),
    "WritesIntoActions": ("actions", "modified its action argument"),
    "AllowsNothing": ("mask", "allows no action"),
    "ForgetsItsMask": ("mask", "is missing here"),
    "DrawsNumbers": ("rendering", "not a uint8 picture"),
    "CannotDraw": ("rendering", "RuntimeError: no brush"),
    "PaysTooMuch": ("facts.reward", "the reward is 3, declared is [-1, 1]"),
}
"""Class -> the check that must find it, and part of its message."""

CONTINUOUS = ("FearsTheEdge", "WritesIntoActions")
FALSE_FACTS = {
    "facts.actions": (["left"], "1 labels for 2 actions"),
    "facts.options": ({"left": ["far", "near"]}, "2 different labels for 0 options of left"),
    "facts.keys": ({"left": 7}, "left do not map to an action"),
    "facts.observations": ([{"name": "place", "low": 0, "high": 1}], "1 components are declared"),
    "facts.reward": ([0, 1], "the reward is -1, declared is [0, 1]"),
    "facts.returns": ([30, 40], "declared is [30, 40]"),
}


def checked(name: str, **facts: Any) -> CheckReport:
    declared = FACTS | facts
    if name in CONTINUOUS:
        declared = declared | {"facts.actions": ["way"], "facts.keys": {"left": [-1.0]}}
    if facts.get("facts.returns"):
        declared = declared | {"facts.threshold": 35}
    cfg = resolve(f"py:tests.check.planted:{name}", declared).config
    return check_environment(name, cfg, steps=STEPS)


def test_a_healthy_environment_passes_every_check():
    report = checked("Healthy")
    assert {f.check: f.what for f in report.findings if f.verdict == "wrong"} == {}
    assert report.steps == STEPS
    unreported = set(CHECKS) - {finding.check for finding in report.findings}
    # it has no mask and no options, its preset declares no metric, and no fact is missing
    assert unreported == {"mask", "facts.options", "metrics", "facts"}
    ends = next(f.what for f in report.findings if f.check == "ends")
    assert "0 terminated" not in ends


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found_by_exactly_the_check_for_it(name: str):
    check, words = PLANTED[name]
    report = checked(name)
    assert [finding.check for finding in report.errors] == [check]
    (found,) = report.errors
    assert words in found.what
    assert found.means == CHECKS[check]
    raised = "raised" in words or name in ("CannotBeMade", "OnlyOnce", "CannotDraw")
    if raised:
        assert "planted.py" in found.traceback
        assert "gymnast/check" not in found.traceback


@pytest.mark.parametrize("fact", FALSE_FACTS)
def test_a_false_fact_is_found_by_exactly_the_check_for_it(fact: str):
    declared, words = FALSE_FACTS[fact]
    (found,) = checked("Healthy", **{fact: declared}).errors
    assert found.check == fact
    assert words in found.what


def test_frames_per_second_that_differ_from_the_metadata_are_noted():
    report = checked("Healthy", **{"facts.fps": 30})
    assert report.errors == ()
    finding = next(f for f in report.findings if f.check == "facts.fps")
    assert finding.verdict == "note"
    assert "30 declared and used" in finding.what


def test_an_observation_component_outside_its_declared_range_is_named():
    parts = [{"name": "place", "low": -1, "high": 1}, {"name": "wind", "low": -1, "high": 1}]
    (found,) = checked("Healthy", **{"facts.observations": parts}).errors
    assert found.check == "facts.observations"
    assert found.what.startswith("place is ")
    assert "episode" in found.where


def test_an_environment_that_is_declared_nondeterministic_may_be_so():
    report = checked("GlobalGenerator", **{"facts.deterministic": "no"})
    assert report.errors == ()
    finding = next(f for f in report.findings if f.check == "deterministic")
    assert finding.verdict == "note"


def test_a_metric_whose_key_is_in_no_info_is_found():
    metric = {"metrics.env/success": {"source": "success", "description": "Reached."}}
    (found,) = checked("Healthy", **metric).errors
    assert found.check == "metrics"
    assert "success" in found.what


def test_a_check_is_reproducible():
    findings = [
        [(f.check, f.verdict, f.what) for f in checked("Raises").findings if "ms" not in f.what]
        for _ in range(2)
    ]
    without_speed = [[line for line in lines if line[0] != "speed"] for lines in findings]
    assert without_speed[0] == without_speed[1]


def invoke(*words: str) -> Any:
    return CliRunner().invoke(check, [*words, "--steps", "100"], standalone_mode=False)


def test_the_command_prints_a_table_and_the_environments_traceback_and_sets_the_exit_code():
    good, bad = invoke(HEALTHY), invoke("py:tests.check.planted:Raises")
    assert (good.return_value, bad.return_value) == (0, 1)
    assert "nothing is wrong" in good.stdout
    assert "WRONG  step" in bad.stdout
    assert "1.0 / (0 if self.place > 4 else 1)" in bad.stdout
    assert "1 thing wrong" in bad.stdout


@pytest.mark.usefixtures("tasks_here")
def test_the_command_prints_json():
    answer = json.loads(invoke("py:tests.check.planted:Raises", "--json").stdout)
    assert answer["wrong"] == 1
    (found,) = [f for f in answer["findings"] if f["verdict"] == "wrong"]
    assert found["check"] == "step"
    assert {"what", "where", "means", "traceback"} <= set(found)


@pytest.mark.usefixtures("tasks_here")
def test_allow_turns_an_error_into_a_note():
    target = "py:tests.check.planted:LimitAsEnd"
    assert invoke(target).return_value == 1
    allowed = invoke(target, "--allow", "time limit")
    assert allowed.return_value == 0
    assert "allowed: all" in allowed.stdout
    refused = invoke(target, "--allow", "time")
    assert "did you mean time limit?" in str(refused.exception)


@pytest.mark.usefixtures("tasks_here")
def test_an_unknown_name_is_an_error():
    refused = invoke("CartPol-v1")
    assert "did you mean CartPole-v1" in str(refused.exception)
    assert "expected one environment" in str(invoke().exception)


def test_an_environment_that_truncates_its_own_episodes_has_a_time_limit():
    limit = next(f for f in checked("Healthy").findings if f.check == "time limit")
    assert (limit.verdict, limit.what) == (
        "ok",
        "none is declared; the environment truncates episodes after 40 steps",
    )
    declared = EpisodeEndCheck(Healthy(), 500)
    for step in (7, 9):
        declared.observe(Timestep(0, 0, step, None, truncated=True))
    ends, limit = declared.findings()
    assert ends.what == "0 terminated, 2 truncated"
    assert limit.what == (
        "500 steps, not reached; the environment truncates episodes earlier, after 7 to 9 steps"
    )


@pytest.mark.usefixtures("tasks_here")
def test_a_missing_time_limit_is_a_warning_unless_the_spec_or_the_config_has_one():
    found = invoke("CliffWalking-v1")
    assert found.return_value == 0
    assert "WARN  time limit" in found.stdout
    assert "nothing is wrong, 1 warning" in found.stdout
    for fine in (["CliffWalking-v1", "--set", "env.max_episode_steps=99"], ["Bandit-v0"]):
        assert "WARN" not in invoke(*fine).stdout
