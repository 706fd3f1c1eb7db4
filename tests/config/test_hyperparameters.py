"""The hyperparameters of one rollout: one frozen dataclass per algorithm, with the fields of its section."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, dataclass, fields, replace
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest

from gymnast.clock import Clock
from gymnast.config.numbers import OFF, Count, Maybe, Positive, Share
from gymnast.config.schedule import Schedule
from gymnast.config.scheduled import Scheduled
from gymnast.config.section import AlgoSection, RolloutLength, hyperparameter_class
from gymnast.config.sections import ALGORITHMS
from gymnast.config.sections.gradient import (
    Coefficient,
    GradientHyperparameters,
    GradientSection,
)

SECTIONS = [section for section, _ in ALGORITHMS.values()]
EVERY_SECTION = pytest.mark.parametrize("section", SECTIONS, ids=ALGORITHMS)


def value_types(annotation: Any) -> set[Any]:
    """Returns the types that a field's value has at one rollout: those of its annotation, where a
    schedule gives a value of the other type, or a float if there is no other."""
    if annotation is Schedule:
        return {float}
    if get_origin(annotation) is Annotated:
        return value_types(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return {annotation}
    options = [x for x in get_args(annotation) if x is not Schedule]
    return set().union(*map(value_types, options)) if options else {annotation}


@EVERY_SECTION
def test_the_values_have_the_fields_of_the_section_without_its_schedules(
    section: type[AlgoSection],
):
    declared = section.hyperparameters
    assert hyperparameter_class(section) is declared  # nothing had to be added
    assert {f.name for f in fields(declared)} == section.model_fields.keys() - {"name"}
    hints = get_type_hints(declared)
    known = get_type_hints(section, include_extras=True)
    for name in hints:
        expected = value_types(known[name])
        assert value_types(hints[name]) == expected, name
        assert Schedule not in {*expected, *get_args(hints[name])}, name


@EVERY_SECTION
def test_every_schedule_is_evaluated_at_the_clock_and_other_values_are_kept(
    section: type[AlgoSection],
):
    names = section.schedulable_fields()
    settings = {"max_grad_norm": "1 -> 3", "gamma": "0 -> 1", "lr": "2 -> 4", "n_steps": "1 -> 5"}
    assert settings.keys() <= set(names)
    made = section.model_validate(settings)
    values: Any = made.values_at(Clock(env_steps=50, limits={"env_steps": 100}))
    assert (values.max_grad_norm, values.gamma, values.lr, values.n_steps) == (2.0, 0.5, 3.0, 3)
    assert isinstance(values.n_steps, int)
    for name, value in asdict(values).items():
        assert not isinstance(value, Schedule), name
        given = getattr(made, name)
        assert isinstance(given, Schedule) or value == given, name
    with pytest.raises(FrozenInstanceError):
        values.gamma = 1.0


@EVERY_SECTION
def test_a_retry_halves_the_learning_rate_and_nothing_else(section: type[AlgoSection]):
    values: Any = section.model_validate({"lr": 0.25}).values_at(Clock(limits={"env_steps": 1}))
    assert values.with_smaller_step() == replace(values, lr=0.125)


def test_the_length_of_a_rollout_is_in_steps_or_in_episodes():
    lengths = {
        name: section.model_validate({}).values_at(Clock()).rollout_length()
        for name, (section, _) in ALGORITHMS.items()
    }
    assert lengths == {
        "ppo": RolloutLength(128),
        "a2c": RolloutLength(16),
        "dqn": RolloutLength(32),
        "reinforce": RolloutLength(None, 1),
    }


@pytest.mark.parametrize(
    ("batch_size", "rollout", "expected"),
    [(64, 1000, 64), (64, 10, 10), ("25%", 1000, 250), ("1%", 10, 1), ("2 -> 6", 100, 4)],
)
def test_a_minibatch_is_a_count_or_a_share_of_the_rollout(
    batch_size: int | str, rollout: int, expected: int
):
    section = ALGORITHMS["ppo"][0].model_validate({"batch_size": batch_size})
    values: Any = section.values_at(Clock(env_steps=1, limits={"env_steps": 2}))
    assert values.minibatch_size(rollout) == expected
    assert isinstance(values.batch_size, Share) == ("%" in str(batch_size))


# ---- sections of user-defined algorithms ----------------------------------------------------------


class Plain(GradientSection):
    """A section without a class for its values."""

    name: str = "plain"
    n_steps: Scheduled[Count] = 8
    temperature: Coefficient = Schedule.constant(0.5)
    limit: Scheduled[Maybe[Positive]] = OFF


@dataclass(frozen=True, kw_only=True)
class TypedHyperparameters(GradientHyperparameters):
    n_steps: int
    temperature: float


class Typed(GradientSection):
    """A section with a class for its values, which lacks one of the fields."""

    hyperparameters = TypedHyperparameters
    name: str = "typed"
    n_steps: Scheduled[Count] = 8
    temperature: Coefficient = Schedule.constant(0.5)
    limit: Scheduled[Maybe[Positive]] = OFF


@pytest.mark.parametrize(
    ("section", "base"), [(Plain, GradientHyperparameters), (Typed, TypedHyperparameters)]
)
def test_fields_that_the_declared_class_lacks_are_added(
    section: type[GradientSection], base: type[Any]
):
    made = section.model_validate({"temperature": "0 -> 1", "limit": 3})
    values: Any = made.values_at(Clock(env_steps=1, limits={"env_steps": 4}))
    assert isinstance(values, base)
    assert type(values) is hyperparameter_class(section)
    assert {f.name for f in fields(values)} == section.model_fields.keys() - {"name"}
    assert (values.temperature, values.limit, values.gamma) == (0.25, 3.0, 0.99)
    assert values.rollout_length() == RolloutLength(8)
    assert values.with_smaller_step().lr == values.lr / 2
    with pytest.raises(FrozenInstanceError):
        values.limit = None


def test_the_types_of_values_are_derived_from_annotations():
    """Checks the oracle of the tests above."""
    assert value_types(Coefficient) == {float}
    assert value_types(Maybe[Coefficient]) == {float, type(None)}
    assert value_types(Scheduled[Count]) == {int}
    assert value_types(Scheduled[Maybe[Positive]]) == {float, type(None)}
    assert value_types(int | Share | Schedule) == {int, Share}
