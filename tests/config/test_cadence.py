from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cadences

from gymnast.clock import Clock
from gymnast.config.cadence import Cadence, PeriodicTrigger


@pytest.mark.parametrize(
    ("written", "period"),
    [
        ("10k env_steps", ("env_steps", 10_000)),
        ("1 rollout", ("rollouts", 1)),
        ("5 rollouts", ("rollouts", 5)),
        ("30 s", ("seconds", 30)),
        ("30s", ("seconds", 30)),
        ("10 minutes", ("seconds", 600)),
        ("0.5 h", ("seconds", 1800)),
        ("5%", ("vec_steps", 50)),
    ],
)
def test_a_cadence_names_its_clock(written, period):
    assert Cadence.parse(written).period(Clock(limits={"vec_steps": 1000})) == period


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (10_000, "which clock"),
        ("10k", "which clock"),
        ("10 days", "unknown unit"),
        ("0 rollouts", "out of range"),
        ("200%", "out of range"),
        ("often", "not a cadence"),
        (True, "not a cadence"),
        (None, "not a cadence"),
    ],
)
def test_an_invalid_cadence_is_rejected_with_the_reason(written, problem):
    with pytest.raises(ValueError, match=problem):
        Cadence.parse(written)


@given(cadences)
def test_a_cadence_survives_a_round_trip_through_text(cadence):
    assert Cadence.parse(str(cadence)) == cadence


@given(st.lists(st.integers(1, 70), max_size=30), st.integers(1, 100))
def test_every_fires_once_per_jump_that_crosses_a_multiple(jumps, period):
    clock = Clock()
    every = PeriodicTrigger(Cadence(period, "env_steps"), clock)
    for jump in jumps:
        before = clock.env_steps
        clock.env_steps += jump
        crossed = any(n % period == 0 for n in range(before + 1, clock.env_steps + 1))
        assert every.due(clock) is crossed
        assert not every.due(clock)


def test_every_resumes_from_its_saved_state():
    clock = Clock(env_steps=95)
    every = PeriodicTrigger(Cadence.parse("100 env_steps"), clock)
    resumed = PeriodicTrigger(Cadence.parse("100 env_steps"), Clock(env_steps=150))
    resumed.load(every.state())
    assert resumed.due(Clock(env_steps=101))


def test_a_percentage_is_due_at_exactly_its_share_of_the_budget():
    clock = Clock(limits={"env_steps": 100_000})
    every = PeriodicTrigger(Cadence.parse("7%"), clock)
    due = []
    for _ in range(100):
        clock.env_steps += 1000
        if every.due(clock):
            due.append(clock.env_steps)
    assert due == [7000 * k for k in range(1, 15)]


def test_off_is_never_due():
    assert not PeriodicTrigger(None, Clock()).due(Clock(env_steps=10**9))
