"""Samplers: the same proposals from the same history, no repetitions, and better than chance."""

from __future__ import annotations

import math
import sys
from statistics import fmean

import pytest

from gymnast.errors import UsageError
from gymnast.sweep import runner as runner_module
from gymnast.sweep.history import History, Measurement, Trial, Unit
from gymnast.sweep.journal import MemoryJournal
from gymnast.sweep.options import SAMPLERS
from gymnast.sweep.parameter import Choices
from gymnast.sweep.proposer import make_proposer
from gymnast.sweep.runner import Runner
from gymnast.sweep.samplers import DRAWS, Sampler
from gymnast.sweep.space import Space, assignment_key
from tests.sweep.table import BUDGET, SPACE, TableExecutor, curve, plan_of

FINITE = Space(
    "CartPole-v1:ppo",
    (Choices("algo.lr", [1e-4, 1e-3, 1e-2]), Choices("algo.gamma", [0.5, 0.9, 0.99])),
)
FAST = [name for name in SAMPLERS if name != "gp"]  # which needs torch


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "POLL_SECONDS", 0.0)


def past(space: Space, n: int) -> History:
    """Returns a history of complete random trials."""
    trials = tuple(Trial(i, space.sample(7, i), {}) for i in range(n))
    results = {
        i: Measurement("finished", tuple(curve(trials[i].assignment, 0)), BUDGET) for i in range(n)
    }
    return History(trials, tuple(Unit(i, i, 0, BUDGET) for i in range(n)), results)


def test_every_sampler_is_registered():
    assert set(DRAWS) == set(SAMPLERS)


@pytest.mark.parametrize("name", FAST)
def test_a_new_sampler_makes_the_same_proposal(name: str):
    space = FINITE if name == "grid" else SPACE
    plan, view = plan_of(space, baseline=False), past(space, 15 if space is SPACE else 4)
    number = len(view.trials)
    first = Sampler(name).propose(space, plan, view, number)
    assert Sampler(name).propose(space, plan, view, number) == first
    assert space.checked(first) == first


@pytest.mark.slow
def test_the_gaussian_process_makes_the_same_proposal():
    plan, view = plan_of(baseline=False), past(SPACE, 12)
    first = Sampler("gp").propose(SPACE, plan, view, 12)
    assert Sampler("gp").propose(SPACE, plan, view, 12) == first
    assert SPACE.checked(first) == first


@pytest.mark.parametrize("name", FAST)
def test_no_assignment_is_proposed_twice(name: str):
    plan = plan_of(FINITE, baseline=False, trials=50, sampler=name, rungs=1, seeds=1)
    assert plan.n_trials == 9
    found = Runner(FINITE, plan, MemoryJournal(), TableExecutor(), make_proposer(plan)).search()
    assert len({assignment_key(one.assignment) for one in found.search.trials}) == 9


def test_after_its_startup_the_model_proposes_better_values_than_chance():
    """The distance of proposed learning rates from the optimum, 3e-3, in orders of magnitude."""
    errors: dict[str, float] = {}
    for name in ("tpe", "random"):
        plan = plan_of(sampler=name, trials=30, rungs=1, seeds=1, baseline=False)
        found = Runner(SPACE, plan, MemoryJournal(), TableExecutor(), make_proposer(plan)).search()
        assignments = [trial.assignment or {} for trial in found.search.trials[15:]]
        errors[name] = fmean(abs(math.log10(float(one["algo.lr"]) / 3e-3)) for one in assignments)  # pyright: ignore[reportArgumentType]
    assert errors["tpe"] < 0.6 * errors["random"]


def test_a_failed_trial_is_avoided_and_not_an_error():
    view = past(SPACE, 14)
    failed = {number: Measurement("failed", problem="NaN") for number in (3, 5)}
    view = History(view.trials, view.units, {**view.results, **failed})
    assert Sampler("tpe").propose(SPACE, plan_of(baseline=False), view, 14)


def test_a_grid_needs_a_finite_space():
    with pytest.raises(UsageError, match=r"algo\.lr has no `step`"):
        Sampler("grid").propose(SPACE, plan_of(), History(), 1)


@pytest.mark.parametrize("name", ["tpe", "gp"])
def test_without_optuna_the_error_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UsageError, match="needs Optuna, which is not installed") as error:
        Sampler(name).propose(SPACE, plan_of(), History(), 1)
    assert "gymnast[sweep]" in error.value.fix


def test_without_cmaes_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(UsageError, match="needs the package cmaes") as error:
        Sampler("cmaes").propose(SPACE, plan_of(), History(), 1)
    assert "gymnast[sweep]" in error.value.fix


def test_random_search_and_grids_need_no_extra(monkeypatch: pytest.MonkeyPatch):
    for package in ("optuna", "cmaes", "scipy"):
        monkeypatch.setitem(sys.modules, package, None)
    assert Sampler("random").propose(SPACE, plan_of(), History(), 1)
    assert Sampler("grid").propose(FINITE, plan_of(FINITE), History(), 1)
