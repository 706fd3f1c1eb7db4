"""Search spaces: parameters, conditions, schedules, and the spaces that ship with gymnast."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.config.presets import all_presets
from gymnast.config.schedule import Schedule
from gymnast.config.sections import ALGORITHMS
from gymnast.errors import ConfigError
from gymnast.sweep.parameter import Choices, Parameter, Range
from gymnast.sweep.shipped import OWN_SPACES, shipped, space_text
from gymnast.sweep.space import Space
from gymnast.sweep.space_file import parse_space
from tests.sweep.table import SPACE

PARAMETERS: list[Parameter] = [
    Range("x", 1e-5, 1e-1, log=True),
    Range("x", -3.0, 4.0),
    Range("x", 0.8, 1.0, step=0.03),
    Range("x", 1, 20, whole=True),
    Range("x", 32, 512, step=32, whole=True),
    Range("x", 1, 1000, log=True, whole=True),
    Choices("x", [1, 2, 4]),
    Choices("x", ["relu", "tanh", [64, 64]]),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
@given(share=st.floats(0, 1))
def test_every_share_of_a_parameter_is_an_accepted_value(parameter: Parameter, share: float):
    value = parameter.from_unit(share)
    assert parameter.accepts(value)
    again = parameter.from_unit(parameter.to_unit(value))
    if isinstance(value, float):
        assert again == pytest.approx(value, rel=1e-4)


def test_a_logarithmic_range_is_as_likely_in_every_order_of_magnitude():
    lr = Range("x", 1e-5, 1e-1, log=True)
    values = [lr.from_unit((i + 0.5) / 4000) for i in range(4000)]
    for power in range(-5, -1):
        inside = [v for v in values if isinstance(v, float) and 10**power <= v < 10 ** (power + 1)]
        assert len(inside) == pytest.approx(1000, abs=5)


def test_steps_are_counted_from_the_lower_bound():
    assert Range("x", 0.8, 1.0, step=0.06).values() == [0.8, 0.86, 0.92, 0.98]
    assert Range("x", 3, 10, step=3, whole=True).values() == [3, 6, 9]


def test_a_conditional_parameter_is_only_set_where_its_condition_holds():
    seen = set[tuple[object, bool]]()
    for number in range(200):
        assignment = SPACE.sample(0, number)
        seen.add((assignment["algo.gamma"], "algo.gae_lambda" in assignment))
    assert seen == {(0.5, False), (0.9, True), (0.99, True)}


def test_the_parts_of_a_schedule_become_one_value_of_its_key():
    file = parse_space(
        'target: CartPole-v1\nparameters:\n  algo.lr:\n    value: "{peak} -> {end} cosine"\n'
        "    parts:\n      peak: {low: 1e-4, high: 1e-2, log: true}\n      end: {choices: [0, 1e-5]}\n"
    )
    assignment = {"algo.lr.peak": 0.0025, "algo.lr.end": 1e-5}
    assert file.space.overrides(assignment) == {"algo.lr": "0.0025 -> 1e-05 cosine"}
    lr = file.space.config(assignment).config.algo.lr  # pyright: ignore[reportAttributeAccessIssue]
    assert lr == Schedule.parse("2.5e-3 -> 1e-5 cosine")


def test_the_baseline_has_the_settings_of_the_study_and_no_others():
    space = Space("CartPole-v1", SPACE.parameters, {"stop.env_steps": "10k"})
    assert space.trial_settings(None) == {"stop.env_steps": "10k"}
    assert space.config(None).config.algo.name == "ppo"


def test_a_grid_has_every_assignment_once():
    space = Space("x", (Choices("a", [1, 2]), Range("b", 0, 4, step=2, when={"a": [2]})))
    assert [*space.grid()] == [{"a": 1}, {"a": 2, "b": 0}, {"a": 2, "b": 2}, {"a": 2, "b": 4}]
    assert space.size == 4
    assert SPACE.size is None


def test_a_foreign_proposal_is_checked():
    good = {"algo.lr": 1e-3, "algo.gamma": 0.5}
    assert SPACE.checked(good) == good
    wrong = {
        "algo.lr": ({**good, "algo.lr": 1.0}, "outside of the space"),
        "algo.gamma": ({"algo.lr": 1e-3}, "is missing"),
        "algo.clip": ({**good, "algo.clip": 0.2}, "is not a parameter of the space"),
        "algo.gae_lambda": ({**good, "algo.gae_lambda": 0.9}, "is not used with the other values"),
    }
    for name, (assignment, text) in wrong.items():
        with pytest.raises(ConfigError, match=f"{name}.*{text}"):
            SPACE.checked(assignment)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_has_a_space_that_is_valid(algorithm: str):
    assert algorithm in shipped()
    text = space_text(f"CartPole-v1:{algorithm}")
    file = parse_space(text)
    assert file.space.target == f"CartPole-v1:{algorithm}"
    assert len(file.space.parameters) >= 6
    assert text.startswith("#")


@pytest.mark.parametrize("target", OWN_SPACES)
def test_a_space_of_a_single_environment_is_valid(target: str):
    file = parse_space(space_text(target))
    assert file.space.target == target
    valid = sum(not file.space.problem(file.space.sample(1, i)) for i in range(30))
    assert valid == 30


@pytest.mark.parametrize(
    ("target", "applies"), [("FrozenLake-v1", False), ("Taxi-v4", False), ("Acrobot-v1", True)]
)
def test_normalizing_observations_is_only_searched_where_it_has_an_effect(
    target: str, applies: bool
):
    assert ("normalize.obs" in space_text(target)) == applies


def test_every_preset_has_a_space():
    for name, preset in all_presets().items():
        if preset.is_builtin and name != "tag" and "pettingzoo" not in name:
            assert f"target: {name}:" in space_text(name)


def test_proposed_numbers_can_be_copied_by_a_person():
    for number in range(50):
        value = SPACE.sample(3, number)["algo.lr"]
        assert isinstance(value, float)
        assert float(f"{value:.6g}") == value
        assert not math.isnan(value)
