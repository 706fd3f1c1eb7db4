"""A trial is the same run as one that is trained alone, whatever its rungs, and every evaluation counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gymnast.config.plain_value import PlainValue
from gymnast.jobs.detach import StartedRun
from gymnast.metrics.specs import metric_for_key, run_metrics
from gymnast.runs.run import Run
from gymnast.sweep import runner as runner_module
from gymnast.sweep import study as studies
from gymnast.sweep.jobs_executor import TRIAL_DEFAULTS, JobsExecutor, read_points
from gymnast.sweep.journal import MemoryJournal
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.parameter import Choices, Parameter, Range
from gymnast.sweep.proposer import make_proposer
from gymnast.sweep.runner import Runner
from gymnast.sweep.space import Space
from gymnast.sweep.state import StudyState
from gymnast.training.foreground import resume_here, train_here
from gymnast.training.request import ResumeRequest, TrainRequest
from tests.e2e.run_differences import differences


class ForegroundExecutor(JobsExecutor):
    """Trains each unit in this process, before `start` returns."""

    def _launch(
        self, request: TrainRequest | ResumeRequest, target: str = "", seed: int | None = None
    ) -> StartedRun:
        train: Any = train_here if isinstance(request, TrainRequest) else resume_here
        result = train(request, runs_dir=self.runs_dir, show="nothing")
        return StartedRun(result.id, "started", None, result.path)


PARAMETERS: list[Parameter] = [
    Range("algo.lr", 1e-4, 1e-1, log=True),
    Choices("algo.gamma", [0.5, 0.9, 0.99]),
    Choices("algo.clip", ["0.3 -> 0.1", 0.2]),
    Choices("env.n_envs", [1, 3, 8]),
    Choices("algo.n_steps", [16, 40, 200]),
]


@st.composite
def searches(draw: st.DrawFn) -> tuple[Space, SearchOptions, int]:
    """Returns a space, the options of a search and the budget of a run."""
    chosen = draw(st.lists(st.sampled_from(PARAMETERS), min_size=1, unique_by=lambda one: one.name))
    budget = draw(st.integers(300, 1200))
    fixed: dict[str, PlainValue] = {
        "env.n_envs": draw(st.integers(1, 9)),
        "algo.n_steps": draw(st.integers(8, 200)),
        "algo.epochs": 1,
        "algo.batch_size": "100%",
        "policy.hidden": [4],
        "eval.every": draw(st.sampled_from(["10%", "25%", "130 env_steps", "2 rollouts"])),
        "eval.episodes": 2,
        "eval.n_envs": 2,
        "eval.max_episode_steps": 30,
        "stop.env_steps": budget,
    }
    names = {one.name for one in chosen}
    options = SearchOptions(
        trials=draw(st.integers(1, 3)),
        seeds=draw(st.integers(1, 2)),
        rungs=draw(st.integers(2, 4)),
        eta=draw(st.integers(2, 3)),
        sampler="random",
        seed=draw(st.integers(0, 99)),
        baseline=draw(st.booleans()),
        confirm_seeds=0,
    )
    kept = {key: value for key, value in fixed.items() if key not in names}
    return Space("CartPole-v1:ppo", tuple(chosen), kept), options, budget


def train_study(space: Space, options: SearchOptions, budget: int, runs_dir: Path) -> StudyState:
    plan = studies.make_plan(space, options, Objective(), budget)
    executor = ForegroundExecutor(space.target, runs_dir, "study")
    return Runner(space, plan, MemoryJournal(), executor, make_proposer(plan)).search()


def check_trials(search: tuple[Space, SearchOptions, int], runs_dir: Path) -> None:
    """Trains a study, and every run of it alone."""
    space, options, budget = search
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner_module, "POLL_SECONDS", 0.0)
        found = train_study(space, options, budget, runs_dir).search
    assert found.units
    newest = {(unit.trial, unit.seed): unit for unit in found.units}
    for (number, seed), unit in newest.items():
        trial, measured = found.trials[number], found.results[unit.number]
        assert measured.ended in ("reached", "finished", "pruned"), measured
        run = Run(runs_dir / measured.run)
        alone = {**TRIAL_DEFAULTS, **trial.settings}
        request = TrainRequest(space.target, alone, seed=options.seed + seed)
        result = train_here(request, runs_dir=runs_dir, show="nothing")
        assert result is not None
        expected = Run(Path(result.path))
        if measured.ended == "finished":
            assert differences(run, expected) == []
            assert run.config() == expected.config()
        at = run.info["clocks"]["env_steps"]
        rows, whole = run.rows(), expected.rows()
        until = whole[whole["clock/env_steps"] <= at]
        assert len(rows) == len(until)
        declared = run_metrics(run.config())
        for name in (name for name in rows.columns if metric_for_key(name, declared).exact):
            assert np.array_equal(rows[name], until[name], equal_nan=True), name
        points = [point for point in read_points(expected) if point[0] <= measured.env_steps]
        assert list(measured.points) == points
        assert points[-1][0] == measured.env_steps >= unit.env_steps or measured.ended == "pruned"


Search = tuple[Space, SearchOptions, int]
generate = settings(
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each example trains several runs: no shrinking
    suppress_health_check=[HealthCheck.too_slow],
)


@settings(generate, max_examples=3)
@given(searches())
def test_a_trial_is_the_run_that_is_trained_alone_and_no_evaluation_is_lost(
    tmp_path_factory: pytest.TempPathFactory, search: Search
):
    check_trials(search, tmp_path_factory.mktemp("runs"))


@pytest.mark.slow
@settings(generate, max_examples=25)
@given(searches())
def test_every_one_of_many_trials_is_the_run_that_is_trained_alone(
    tmp_path_factory: pytest.TempPathFactory, search: Search
):
    check_trials(search, tmp_path_factory.mktemp("runs"))
