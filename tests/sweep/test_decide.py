"""Decisions of a search: pure, independent of the order in which results arrive, and frugal."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.sweep import runner as runner_module
from gymnast.sweep.decide import (
    Done,
    NewTrial,
    Plan,
    Train,
    Wait,
    decide,
    env_steps_spent,
    prune_at,
    rung_steps,
)
from gymnast.sweep.executor import Work
from gymnast.sweep.history import History, Measurement, Trial, Unit, seed_results
from gymnast.sweep.journal import MemoryJournal
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.proposer import make_proposer
from gymnast.sweep.runner import Runner
from gymnast.sweep.standings import standings
from gymnast.sweep.state import StudyState
from tests.sweep.table import BUDGET, SPACE, TableExecutor, plan_of


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "POLL_SECONDS", 0.0)


def search(plan: Plan, executor: TableExecutor, journal: MemoryJournal | None = None) -> StudyState:
    found = Runner(SPACE, plan, journal or MemoryJournal(), executor, make_proposer(plan)).search()
    assert found.ended
    return found


def decisions(state: StudyState) -> list[tuple[object, ...]]:
    trials = [trial.assignment for trial in state.search.trials]
    units = [(unit.trial, unit.seed, unit.env_steps) for unit in state.search.units]
    return [*trials, *units]  # pyright: ignore[reportReturnType]


def constant(value: float) -> list[tuple[float, float]]:
    return [(0.0, value), (float(BUDGET), value)]


def history(values: list[list[float]], steps: int) -> History:
    """Returns a history of trials with one value per seed, all trained to `steps`."""
    trials = tuple(Trial(n, {"algo.lr": 1e-3}, {}) for n in range(len(values)))
    pairs = [(t, s) for t, seeds in enumerate(values) for s in range(len(seeds))]
    units = tuple(Unit(i, t, s, steps) for i, (t, s) in enumerate(pairs))
    results = {
        i: Measurement(
            "finished" if steps == BUDGET else "reached", tuple(constant(values[t][s])), steps
        )
        for i, (t, s) in enumerate(pairs)
    }
    return History(trials, units, results)


@settings(max_examples=6, deadline=None)
@given(
    lookahead=st.integers(1, 4),
    order=st.integers(0, 10_000),
    total=st.none() | st.integers(6 * BUDGET, 12 * BUDGET),
)
def test_the_order_in_which_results_arrive_changes_nothing(
    lookahead: int, order: int, total: int | None
):
    plan = plan_of(lookahead=lookahead, sampler="random", total_env_steps=total)
    at_once = search(plan, TableExecutor())
    chance = random.Random(order)
    delays: dict[int, int] = {}

    def delay(work: Work) -> int:
        return delays.setdefault(work.unit.number, chance.randrange(6))

    assert decisions(search(plan, TableExecutor(delay=delay))) == decisions(at_once)


@pytest.mark.parametrize("sampler", ["tpe", "cmaes", "random"])
@pytest.mark.parametrize("lookahead", [1, 3])
def test_a_study_that_ends_after_any_event_continues_with_the_same_decisions(
    sampler: str, lookahead: int
):
    plan = plan_of(lookahead=lookahead, sampler=sampler, trials=14)
    events: list[dict[str, object]] = []
    whole = search(plan, TableExecutor(), MemoryJournal(events))  # pyright: ignore[reportArgumentType]
    for length in range(3, len(events), 13):
        cut = MemoryJournal([*events[:length]])
        resumed = search(plan, TableExecutor(), cut)
        assert decisions(resumed) == decisions(whole)


def test_a_decision_uses_no_result_newer_than_the_lookahead():
    """Two histories that differ only in results that arrived early lead to the same decision."""
    plan = plan_of(lookahead=3, baseline=False)
    first = plan.rungs[0]
    known = history([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], first)
    for changed in (4, 5):  # unit 6 may depend on the results up to unit 3
        other = replace(known, results={**known.results, changed: Measurement("failed")})
        assert decide(plan, other) == decide(plan, known)
    missing = {number: known.results[number] for number in range(4)}
    assert decide(plan, replace(known, results=missing)) == decide(plan, known)
    del missing[3]
    assert decide(plan, replace(known, results=missing)) == Wait()


def test_a_third_of_the_trials_at_a_rung_continues_to_the_next():
    plan = plan_of(baseline=False, trials=6)
    known = history([[1.0], [6.0], [3.0], [4.0], [5.0], [2.0]], plan.rungs[0])
    assert decide(plan, known) == Train(1, 0, plan.rungs[1])
    unit = Unit(6, 1, 0, plan.rungs[1])
    more = replace(known, units=(*known.units, unit))
    more = replace(
        more, results={**known.results, 6: Measurement("reached", tuple(constant(6)), 600)}
    )
    assert decide(plan, more) == Train(4, 0, plan.rungs[1])


def test_one_of_a_few_trials_trains_to_the_end():
    """A third of two trials is none, and then nothing could be compared with the baseline."""
    for trials in (1, 2, 4):
        found = search(plan_of(trials=trials, sampler="random"), TableExecutor()).search
        complete = {unit.trial for unit in found.units if unit.env_steps == BUDGET}
        assert len(complete - {0}) == 1


def test_ties_at_the_cut_all_continue():
    """The first rung shows nothing where rewards are sparse: pruning there would be a lottery."""
    plan = plan_of(baseline=False, trials=6)
    known = history([[-200.0]] * 6, plan.rungs[0])
    for trial in range(6):
        assert decide(plan, known) == Train(trial, 0, plan.rungs[1])
        number = len(known.units)
        known = History(
            known.trials,
            (*known.units, Unit(number, trial, 0, plan.rungs[1])),
            {**known.results, number: Measurement("failed")},
        )


def test_failures_never_continue():
    plan = plan_of(baseline=False, trials=3)
    known = history([[1.0], [2.0], [3.0]], plan.rungs[0])
    failed = {number: Measurement("failed") for number in range(3)}
    assert isinstance(decide(plan, replace(known, results=failed)), Done)


def test_the_total_of_env_steps_is_never_exceeded():
    for total in range(4 * BUDGET, 16 * BUDGET, 7_111):
        plan = plan_of(total_env_steps=total, sampler="random", trials=100)
        spent = env_steps_spent(search(plan, TableExecutor()).search)
        assert spent <= total
        assert spent > total - BUDGET


def test_strong_trials_get_more_seeds_than_weak_ones():
    found = search(plan_of(sampler="random", trials=30), TableExecutor())
    seeds = {trial: len(by) for trial, by in seed_results(found.search, BUDGET).items()}
    best = standings(found.search, Objective(), rung_steps(BUDGET, SearchOptions()))[0]
    assert seeds[best.trial] == 3
    assert sum(count == 1 for count in seeds.values()) > 20


def test_one_lucky_seed_does_not_win_against_a_trial_with_several_good_ones():
    lucky = history([[10.0, 11.0, 10.5], [10.6], [7.0, 9.0], [6.0, 8.5]], BUDGET)
    ranked = standings(lucky, Objective(), (BUDGET,))
    assert ranked[0].trial == 0
    by_mean = max(ranked, key=lambda one: one.mean or 0.0)
    assert by_mean.trial == 1


def test_a_trial_with_a_failed_seed_counts_the_worst_value_for_it():
    known = history([[5.0, 5.0], [6.0, 6.0], [1.0]], BUDGET)
    results = {**known.results, 3: Measurement("failed", problem="NaN")}
    ranked = standings(replace(known, results=results), Objective(), (BUDGET,))
    assert [one.trial for one in ranked] == [0, 1, 2]
    assert ranked[1].mean == pytest.approx((6.0 + 1.0) / 2)
    assert ranked[1].failed


def test_a_further_seed_that_is_worse_than_every_complete_run_is_pruned_at_its_rung():
    plan = plan_of(baseline=False)
    known = history([[4.0], [5.0], [6.0], [7.0], [8.0]], BUDGET)
    known = replace(known, units=(*known.units, Unit(5, 4, 1, BUDGET)))
    steps = float(plan.rungs[0])
    assert prune_at(plan, known, 5, [(0.0, 3.0), (steps, 3.0)]) == plan.rungs[0]
    assert prune_at(plan, known, 5, [(0.0, 3.0), (steps - 1, 3.0)]) is None
    assert prune_at(plan, known, 5, [(0.0, 4.5), (steps, 4.5)]) is None
    late = [(0.0, 4.5), (steps, 4.5), (float(plan.rungs[1]), -20.0)]
    assert prune_at(plan, known, 5, late) == plan.rungs[1]


def test_without_time_for_new_trials_the_best_get_their_seeds_first():
    plan = plan_of(baseline=False, trials=20, minutes=1.0)
    complete = history([[5.0], [4.9], [1.0]], BUDGET)
    short = Measurement("reached", tuple(constant(9.0)), plan.rungs[0])
    known = History(
        (*complete.trials, Trial(3, {"algo.lr": 1e-2}, {})),
        (*complete.units, Unit(3, 3, 0, plan.rungs[0])),
        {**complete.results, 3: short},
    )
    assert decide(plan, known) == Train(3, 0, plan.rungs[1])
    assert decide(plan, known, exploring=False) == Train(0, 1, BUDGET)


def test_a_search_ends_when_there_is_nothing_left_to_do():
    known = history([[1.0, 2.0, 3.0]], BUDGET)
    assert isinstance(decide(plan_of(baseline=False, trials=1), known), Done)
    assert decide(plan_of(baseline=False, trials=2), known) == NewTrial(plan_of().rungs[0])


def test_no_job_waits_for_a_baseline_that_trains_for_longer():
    plan = plan_of(lookahead=2)
    known = History((Trial(0, None, {}),), (Unit(0, 0, 0, BUDGET),), {})
    others = 0
    while not isinstance(decision := decide(plan, known), Wait):
        number = len(known.units)
        assert not isinstance(decision, Done)
        trials = known.trials
        if isinstance(decision, NewTrial):
            trials = (*trials, Trial(len(trials), {"algo.lr": 1e-3}, {}))
        trial = decision.trial if isinstance(decision, Train) else len(trials) - 1
        others += decision.env_steps - max(
            (u.env_steps for u in known.units if u.trial == trial), default=0
        )
        result = Measurement("reached", tuple(constant(number)), decision.env_steps)
        unit = Unit(number, trial, 0, decision.env_steps)
        known = History(trials, (*known.units, unit), {**known.results, number: result})
    assert others >= BUDGET  # as much as the other job has trained meanwhile


def test_rungs_are_evaluation_points_and_end_with_the_budget():
    options = SearchOptions(rungs=3, eta=3)
    assert rung_steps(9_000, options) == (1_000, 3_000, 9_000)
    assert rung_steps(9_000, options, 900) == (900, 2_700, 9_000)
    assert rung_steps(9_000, options, 4_000) == (4_000, 9_000)
    assert rung_steps(9_000, options, 9_000) == (9_000,)


def test_the_value_at_a_rung_includes_the_evaluation_where_the_run_paused():
    """Runs stop at whole rollouts, some steps after the rung."""
    points = [(0.0, 10.0), (3_344.0, 20.0), (6_688.0, 90.0)]
    objective = Objective("score")
    assert objective.value(points[:2], 3_334, budget=30_000) == pytest.approx(19.5)
    assert objective.value(points, 3_334, budget=30_000) == pytest.approx(19.5)
