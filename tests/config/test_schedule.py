from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from strategies import schedules

from gymnast.clock import Clock
from gymnast.config.schedule import Schedule
from gymnast.errors import ConfigError


def curve(written, total=1000, clock="env_steps", steps=5):
    """Returns the values at evenly spaced readings from 0 to the total."""
    schedule = Schedule.parse(written)
    readings = np.linspace(0, total, steps)
    return [schedule(Clock(**{clock: now}, limits={clock: total})) for now in readings]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("3e-4", [3e-4] * 5),
        (3, [3.0] * 5),
        ("1 -> 0", [1, 0.75, 0.5, 0.25, 0]),
        ("1->0", [1, 0.75, 0.5, 0.25, 0]),
        ("0 -> 1", [0, 0.25, 0.5, 0.75, 1]),
        ("1 -> 0 cosine", [(1 + math.cos(math.pi * t / 4)) / 2 for t in range(5)]),
        ("1 -> 16 exponential", [1, 2, 4, 8, 16]),
        ("1 -> 0 @ 25%..75%", [1, 1, 0.5, 0, 0]),
        ("1 -> 0 @ 250..750", [1, 1, 0.5, 0, 0]),
        ("1 -> 0 @ 0.25k..0.75k", [1, 1, 0.5, 0, 0]),
        ({"0%": 1, "50%": 0.5, "100%": 2}, [1, 0.75, 0.5, 1.25, 2]),
        ({0: 1, "0.5k": 0}, [1, 0.5, 0, 0, 0]),
        ({"from": 1, "to": 0, "start": "25%", "end": "75%"}, [1, 1, 0.5, 0, 0]),
        ({"points": {"0%": 1, "100%": 0}, "floor": 0.3}, [1, 0.75, 0.5, 0.3, 0.3]),
        ("1 -> 0 floor 0.5", [1, 0.75, 0.5, 0.5, 0.5]),
        ("2 warmup 50%", [0.2, 1.1, 2, 2, 2]),
        ("1 -> 0 warmup 50%", [0.1, 0.75 * 0.55, 0.5, 0.25, 0]),
        ("2 warmup 50% floor 0.5", [0.5, 1.1, 2, 2, 2]),
        ("-2 warmup 50%", [-0.2, -1.1, -2, -2, -2]),
        ("{0%: 1, 50%: 0, 100%: 1} cosine", [1, 0.5, 0, 0.5, 1]),
    ],
)
def test_a_schedule_takes_the_expected_values(written, values):
    assert curve(written) == pytest.approx(values)


def test_a_schedule_uses_the_clock_of_the_main_budget_unless_it_names_another():
    clock = Clock(env_steps=100, updates=5, limits={"env_steps": 200, "updates": 20})
    assert Schedule.parse("1 -> 0")(clock) == 0.5
    assert Schedule.parse("1 -> 0 clock updates")(clock) == 0.75


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("1 -> 0 @ 0..30 clock minutes", "1 -> 0 @ 0..1800 clock seconds"),
        ("1 -> 0 @ 0..0.5 warmup 0.1 clock hours", "1 -> 0 @ 0..1800 warmup 360 clock seconds"),
        ("1 -> 0 @ 10%..50% clock minutes", "1 -> 0 @ 10%..50% clock seconds"),
        ({"points": {0: 1, 2: 0}, "clock": "min"}, "1 -> 0 @ 0..120 clock seconds"),
    ],
)
def test_a_schedule_may_use_minutes_and_hours(written, same):
    assert Schedule.parse(written) == Schedule.parse(same)


@given(schedules())
def test_a_schedule_survives_a_round_trip_through_text(schedule):
    assert Schedule.parse(str(schedule)) == schedule
    assert Schedule.parse(schedule.to_plain()) == schedule
    assert hash(schedule) == hash(Schedule.parse(str(schedule)))


@given(schedules())
def test_a_schedule_stays_between_its_lowest_and_highest_frame(schedule):
    if schedule.floor is not None or schedule.warmup is not None:
        return
    name = schedule.clock or "env_steps"
    for now in (0, 1, 333, 5_000, 1e6):
        value = schedule(Clock(**{name: now}, limits={name: 1e6}))
        assert schedule.lowest * (1 - 1e-9) <= value <= schedule.highest * (1 + 1e-9)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("fast", "is not a number"),
        ("1 -> 0 sine", "the shapes are"),
        ("1 -> 0 @ 80%..10%", "must increase"),
        ("1 -> 0 @ 10%..20k", "mixed"),
        ("1 -> 0 @ 10%", "is not understood"),
        ("1 @ 10%..20%", "is not understood"),
        ("1 -> 0 clock days", "unknown clock"),
        ("1 -> 0 floor", "is not understood"),
        ("1 -> 0 cosine linear", "is not understood"),
        ("1 -> 0 cosin", "`cosin` is not understood .*the shapes are linear, cosine, exponential"),
        ("3e-4 cosin", "`cosin` is not understood .*the shapes are"),
        ("{0%: 1, 100%: 0} cosin", "`cosin` is not understood .*the shapes are"),
        ("1 -> 0 exponential", "never reaches 0"),
        ("-1 -> 1 exponential", "cross 0"),
        ("1 -> 0 @ 10%..120%", "out of range"),
        ({"0%": 1}, "two or more"),
        ({"from": 1}, "incomplete"),
        ({"from": 1, "to": 0, "form": "cosine"}, "unknown key `form` in a schedule"),
        (True, "is not a number"),
        (None, "is empty"),
        ([1, 2], "is not a number"),
    ],
)
def test_an_invalid_schedule_is_rejected_with_the_reason(written, problem):
    with pytest.raises(ValueError, match=problem):
        Schedule.parse(written)


def test_percentages_need_a_budget_and_absolute_positions_do_not():
    assert Schedule.parse("1 -> 0").required_budget("env_steps") == "env_steps"
    assert Schedule.parse("1 -> 0 clock updates").required_budget("env_steps") == "updates"
    assert Schedule.parse("1 warmup 5%").required_budget("env_steps") == "env_steps"
    for free in ("1", "1 -> 0 @ 0..20k", "1 clock updates"):
        assert not Schedule.parse(free).required_budget("env_steps")
    with pytest.raises(ConfigError, match="budget"):
        Schedule.parse("1 -> 0")(Clock())
