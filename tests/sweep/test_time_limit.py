"""The time limit of a study: with a clock of our own and runs of known length, it is kept to the second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gymnast.sweep.confirm import confirmation, confirmation_units
from gymnast.sweep.decide import TIME_OVER, Plan
from gymnast.sweep.executor import Work
from gymnast.sweep.history import Measurement
from gymnast.sweep.journal import Event, MemoryJournal
from gymnast.sweep.proposer import make_proposer
from gymnast.sweep.runner import Runner
from gymnast.sweep.standings import standings
from gymnast.sweep.state import StudyState, state_of
from gymnast.sweep.time_limit import MIN_SEEDS, unit_seconds
from tests.sweep.table import BUDGET, SPACE, TableExecutor, plan_of


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.01)


@dataclass
class TimedExecutor(TableExecutor):
    """An executor whose runs take a given number of seconds."""

    clock: Clock = field(default_factory=Clock)
    seconds: Callable[[Work], float] = lambda work: 1.5 + work.unit.env_steps / 100
    begun: dict[str, float] = field(default_factory=dict[str, float])
    stopped: list[str] = field(default_factory=list[str])
    reacts: bool = True
    """Whether runs stop when they are asked to."""

    def start(self, work: Work) -> None:
        super().start(work)
        self.begun[work.name] = self.clock.now

    def poll(self, work: Work) -> Measurement | None:
        if self.clock.now < self.begun[work.name] + self.seconds(work):
            return None
        return super().poll(work)

    def prune(self, work: Work) -> Measurement | None:
        if work.name not in self.stopped:
            self.stopped.append(work.name)
        share = (self.clock.now - self.begun[work.name]) / self.seconds(work)
        if not self.reacts:
            return None
        steps = int(min(share, 1.0) * work.unit.env_steps)
        return Measurement("reached", tuple(self.points(work)), steps, run=work.name)


def timed_study(
    minutes: float, executor: TimedExecutor, *, jobs: int = 1, journal: MemoryJournal | None = None
) -> tuple[Plan, StudyState]:
    """Returns a study that was searched and confirmed, by the clock of its executor."""
    options = {"trials": 2000, "sampler": "random", "lookahead": jobs, "confirm_seeds": 5}
    plan = plan_of(minutes=minutes, **options)
    runner = Runner(
        SPACE,
        plan,
        journal or MemoryJournal(),
        executor,
        make_proposer(plan),
        jobs=jobs,
        clock=executor.clock,
        sleep=executor.clock.sleep,
    )
    state = runner.search()
    assert runner.confirm(confirmation_units(plan, state.search))
    return plan, runner.state


def slow(factor: float) -> Callable[[Work], float]:
    return lambda work: 1.5 + factor * work.unit.env_steps / 100


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("factor", [0.3, 0.6, 0.9])
def test_a_study_ends_within_its_minutes_and_uses_most_of_them(factor: float, jobs: int):
    executor = TimedExecutor(seconds=slow(factor))
    plan, state = timed_study(5.0, executor, jobs=jobs)
    assert 0.7 * 300 < executor.clock.now <= 300
    found = confirmation(plan, state, Path())
    assert found is not None
    assert all(MIN_SEEDS <= len(one.values) <= 5 for one in found.trials)
    assert len({len(one.values) for one in found.trials}) == 1


def test_a_short_time_leaves_out_seeds_and_says_so():
    executor = TimedExecutor(seconds=slow(1.8))  # 34 seconds per run: 10 of them are more than half
    plan, state = timed_study(10.0, executor)
    found = confirmation(plan, state, Path())
    assert found is not None
    n_seeds = len(found.trials[0].values)
    assert MIN_SEEDS <= n_seeds < 5
    assert found.shortened == f"{n_seeds} of 5 fresh seeds: the time did not allow more"
    assert all(work.unit.env_steps == BUDGET for work in executor.started if work.is_final)


def test_runs_under_way_are_stopped_when_the_search_is_over():
    def seconds(work: Work) -> float:  # proposals take much longer than anything before has
        return 500.0 if work.unit.trial > 3 and not work.is_final else slow(0.5)(work)

    executor = TimedExecutor(seconds=seconds)
    plan, state = timed_study(5.0, executor)
    assert executor.clock.now <= 300
    assert len(executor.stopped) == 1
    assert state.ended == TIME_OVER
    last = state.search.units[-1]
    assert state.search.results[last.number].ended == "stopped"
    # It counts as not started: neither as a failure nor with a value.
    table = {one.trial: one for one in standings(state.search, plan.objective, plan.rungs)}
    assert table[last.trial].values == ()
    assert not table[last.trial].failed


def test_a_run_that_does_not_react_does_not_delay_the_end():
    executor = TimedExecutor(
        seconds=lambda work: 500.0 if work.is_final else slow(0.5)(work), reacts=False
    )
    plan, state = timed_study(5.0, executor)
    assert executor.clock.now <= 303
    assert state.confirm_seeds == 0
    assert confirmation(plan, state, Path()) is None


def test_a_confirmation_that_becomes_slower_is_cut_at_the_end_of_the_time():
    executor = TimedExecutor(seconds=lambda work: 40.0 if work.is_final else slow(0.5)(work))
    plan, state = timed_study(5.0, executor)
    assert executor.clock.now <= 300
    found = confirmation(plan, state, Path())
    assert found is not None
    assert "of 5 fresh seeds" in found.shortened
    counts = {len(one.values) for one in found.trials}
    assert counts == {state.confirm_seeds}


def test_a_study_that_was_stopped_by_its_time_continues_with_more_of_it():
    def seconds(work: Work) -> float:
        return 200.0 if work.unit.trial > 3 and not work.is_final else slow(0.5)(work)

    executor = TimedExecutor(seconds=seconds)
    events: list[Event] = []
    plan, state = timed_study(4.0, executor, journal=MemoryJournal(events))
    stopped = [n for n, one in state.search.results.items() if one.ended == "stopped"]
    assert stopped
    unit = state.search.units[stopped[0]]
    events.append({"event": "session", "jobs": 1, "reopened": True})
    longer = replace(plan, options=replace(plan.options, minutes=30.0))
    again = Runner(
        SPACE,
        longer,
        MemoryJournal(events),
        executor,
        make_proposer(plan),
        clock=executor.clock,
        sleep=executor.clock.sleep,
    )
    found = again.search().search
    later = [one for one in found.units[unit.number + 1 :] if one.trial == unit.trial]
    assert (later[0].seed, later[0].env_steps) == (unit.seed, unit.env_steps)
    assert found.results[later[0].number].ended == "reached"


def test_the_time_of_a_unit_is_predicted_from_the_measured_ones():
    executor = TimedExecutor()
    events: list[Event] = []
    timed_study(5.0, executor, journal=MemoryJournal(events))
    state = state_of(events)
    expected = 1.5 + BUDGET / 100
    assert unit_seconds(state, BUDGET, 0) == pytest.approx(expected, rel=0.1)
    assert unit_seconds(state_of([]), BUDGET) == 0.0


def test_a_slow_first_trial_does_not_end_the_search():
    """Its confirmation would take longer than the whole study."""
    executor = TimedExecutor()
    executor.seconds = lambda work: (
        (8 if work.unit.trial == 1 else 1) * (1.5 + work.unit.env_steps / 100)
    )
    plan, state = timed_study(6, executor)
    assert len(state.search.trials) > 4
    assert executor.clock.now <= 360
    best = standings(state.search, plan.objective, plan.rungs)[0]
    assert best.rung == len(plan.rungs)
