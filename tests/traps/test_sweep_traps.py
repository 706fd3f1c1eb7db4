"""Regression tests for past bugs of sweeps. The numbers are those of the list of traps."""

from __future__ import annotations

import pytest

from gymnast.config.schedule import Schedule
from gymnast.config.sections import ALGORITHMS
from gymnast.errors import ConfigError
from gymnast.sweep.shipped import space_text
from gymnast.sweep.space_file import parse_space

HEAD = "target: CartPole-v1:ppo\nparameters:\n"


def test_18_a_schedule_of_a_trial_is_a_field_of_its_config():
    file = parse_space(
        HEAD + "  algo.lr: {choices: [1e-3, 1e-3 -> 0, 3e-3 -> 0 cosine warmup 5%]}\n"
    )
    for value, expected in (
        ("1e-3 -> 0", "0.001 -> 0"),
        ("3e-3 -> 0 cosine warmup 5%", "0.003 -> 0 cosine warmup 5%"),
    ):
        config = file.space.config({"algo.lr": value}).config
        assert config.algo.lr == Schedule.parse(expected)  # pyright: ignore[reportAttributeAccessIssue]


def test_18_a_study_that_keeps_the_learning_rate_keeps_its_schedule():
    file = parse_space(HEAD + "  algo.gamma: {choices: [0.9, 0.99]}\n")
    config = file.space.config({"algo.gamma": 0.9}).config
    assert config.algo.lr == Schedule.parse("1e-3 -> 0")  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("key", "guess"),
    [("algo.learning_rate", "algo.lr"), ("policy.hidden_dims", "policy.hidden"), ("lr", "algo.lr")],
)
def test_36_a_parameter_that_the_config_does_not_know_is_an_error(key: str, guess: str):
    with pytest.raises(ConfigError, match=f"unknown key; did you mean {guess}"):
        parse_space(HEAD + f"  {key}: {{choices: [1e-3, 1e-2]}}\n")


def test_36_numbers_in_scientific_notation_and_integers_are_numbers():
    file = parse_space(
        HEAD
        + "  algo.lr: {low: 1e-4, high: 1e-2, log: true}\n  algo.entropy_coef: {low: 0, high: 1}\n"
    )
    assert [(one.low, one.high) for one in file.space.parameters] == [(1e-4, 1e-2), (0, 1)]  # pyright: ignore[reportAttributeAccessIssue]
    config = file.space.config({"algo.lr": 1e-3, "algo.entropy_coef": 1}).config
    assert config.algo.entropy_coef == Schedule.constant(1.0)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_36_every_parameter_of_a_shipped_space_changes_the_config(algorithm: str):
    space = parse_space(space_text(f"CartPole-v1:{algorithm}")).space
    base = space.from_units([0.3] * len(space.parameters))
    for parameter in space.parameters:
        if parameter.name not in base:
            continue
        seen = {
            space.config({**base, parameter.name: value}).config.model_dump_json()
            for value in parameter.extremes()
            if not space.problem({**base, parameter.name: value})
        }
        assert len(seen) > 1, parameter.name
