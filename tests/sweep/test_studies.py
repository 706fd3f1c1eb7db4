"""Studies on disk: the journal, kills at every event, confirmation, and population-based training."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.api.sweep_options import SweepOptions
from gymnast.cli import cli
from gymnast.config.plain_value import PlainValue
from gymnast.errors import RunError, UsageError
from gymnast.jobs import status
from gymnast.jobs.detach import StartedRun
from gymnast.sweep import launch, pbt
from gymnast.sweep import runner as runner_module
from gymnast.sweep import study as studies
from gymnast.sweep.confirm import confirmation, confirmation_units
from gymnast.sweep.decide import Wait
from gymnast.sweep.executor import Work
from gymnast.sweep.history import History, Measurement, Trial, Unit
from gymnast.sweep.importance import importance
from gymnast.sweep.jobs_executor import JobsExecutor
from gymnast.sweep.journal import FileJournal, MemoryJournal
from gymnast.sweep.objective import Objective, Points
from gymnast.sweep.options import SAMPLERS, SearchOptions
from gymnast.sweep.parameter import Choices
from gymnast.sweep.probe import Probe
from gymnast.sweep.proposer import make_proposer
from gymnast.sweep.report import summarize
from gymnast.sweep.runner import CONFIRM_SEED, Runner
from gymnast.sweep.space import Space
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.state import state_of
from gymnast.sweep.study import Study
from gymnast.training.request import TrainRequest
from tests.sweep.table import BUDGET, SPACE, TEXT, TableExecutor, curve, plan_of
from tests.waiting import wait_for


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "POLL_SECONDS", 0.0)


@pytest.fixture
def study(runs_dir: Path) -> Study:
    file = parse_space(TEXT)
    plan = studies.make_plan(file.space, file.options(), file.objective, BUDGET)
    return studies.create("first", file.space, plan, runs_dir=runs_dir)


def test_a_budget_that_ends_before_the_first_trial_is_refused(runs_dir: Path):
    file = parse_space(TEXT)
    measured = Probe(n_envs=4, budget=BUDGET, steps_per_second=1e4, bytes=1000, threshold=None)
    options = replace(file.options(), total_env_steps=BUDGET)
    with pytest.raises(UsageError, match="end before the first trial") as refused:
        launch.prepare_measured(file, options, measured, runs_dir=runs_dir)
    least = int(re.findall(r"at least ([\d,]+),", refused.value.fix)[0].replace(",", ""))
    enough = replace(options, total_env_steps=least)
    assert launch.prepare_measured(file, enough, measured, runs_dir=runs_dir).plan.options == enough


def runner_of(study: Study, executor: TableExecutor) -> Runner:
    return Runner(
        study.space, study.plan, study.journal, executor, make_proposer(study.plan), study.name
    )


def test_a_study_is_loaded_as_it_was_stored(study: Study):
    assert studies.load(study.path) == study
    assert studies.find("fir", study.runs_dir) == study
    assert studies.find("@last", study.runs_dir) == study
    with pytest.raises(RunError, match="no study 'other'"):
        studies.find("other", study.runs_dir)


def test_a_name_is_used_once_and_stays_below_the_directory_of_studies(study: Study):
    for name, problem in (("first", "there is a study first already"), ("../x", "cannot name")):
        with pytest.raises(UsageError, match=problem):
            studies.create(name, study.space, study.plan, runs_dir=study.runs_dir)


def test_a_line_that_a_crash_cut_short_is_ignored(tmp_path: Path):
    journal = FileJournal(tmp_path / "journal.jsonl")
    journal.append({"event": "one"})
    with journal.path.open("ab") as file:
        file.write(b'{"v": 1, "event": "tw')
    assert [event["event"] for event in journal.events()] == ["one"]
    journal.append({"event": "three"})
    assert [event["event"] for event in journal.events()] == ["one", "three"]


def test_an_event_of_a_newer_version_is_an_error(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps({"v": 99, "event": "one"}) + "\n")
    with pytest.raises(RunError, match="unknown format 99"):
        list(FileJournal(path).events())


def test_the_state_after_every_event_is_that_of_the_process_that_wrote_it(study: Study):
    runner = runner_of(study, TableExecutor())
    runner.search()
    assert study.state().search == runner.state.search
    assert study.state().ended == runner.state.ended


def test_work_that_was_announced_is_started_again_after_a_kill_and_counted_once(study: Study):
    class Killed(Exception):
        pass

    class Mortal(TableExecutor):
        def start(self, work: Work) -> None:
            super().start(work)
            if len(self.started) == 5:
                raise Killed

    first = Mortal()
    with pytest.raises(Killed):
        runner_of(study, first).search()
    second = TableExecutor()
    found = runner_of(study, second).search()
    assert second.started[0] == first.started[-1]
    names = [(work.unit.number, work.name) for work in (*first.started[:-1], *second.started)]
    assert len(names) == len(set(names)) == len(found.search.units)


def test_an_invalid_trial_is_a_bad_result_and_is_not_trained():
    """A random sampler may propose settings that contradict each other."""

    class Contrary:
        def propose(self, *_: object) -> Mapping[str, PlainValue]:
            return {"algo.lr": -1.0, "algo.gamma": 0.5}

    plan = plan_of(trials=1, baseline=False)
    executor = TableExecutor()
    found = Runner(SPACE, plan, MemoryJournal(), executor, Contrary()).search()
    assert found.search.results[0].ended == "failed"
    assert "algo.lr" in found.search.results[0].problem
    assert not executor.polled


def test_nan_and_failures_are_bad_results():
    def with_nan(assignment: Mapping[str, PlainValue] | None, seed: int) -> Points:
        points = curve(assignment, seed)
        is_bad = assignment is not None and assignment["algo.gamma"] == 0.9
        return [(x, float("nan")) for x, _ in points] if is_bad else points

    plan = plan_of(trials=15)
    found = Runner(
        SPACE, plan, MemoryJournal(), TableExecutor(with_nan), make_proposer(plan)
    ).search()
    best = launch.standings(found.search, plan.objective, plan.rungs)
    bad = {t.number for t in found.search.trials if (t.assignment or {}).get("algo.gamma") == 0.9}
    assert bad
    assert {one.trial for one in best[-len(bad) :]} == bad


def test_the_best_are_confirmed_on_seeds_that_no_decision_has_seen(study: Study):
    executor = TableExecutor()
    runner = runner_of(study, executor)
    searched = {work.seed for work in executor.started}
    state = runner.search()
    units = confirmation_units(study.plan, state.search)
    assert runner.confirm(units)
    state = runner.state
    confirming = [work for work in executor.started if work.is_final]
    assert {work.seed for work in confirming} == {CONFIRM_SEED + i for i in range(3)}
    assert not searched & {work.seed for work in confirming}
    assert {work.unit.trial for work in confirming} >= {0}
    found = confirmation(study.plan, state, study.runs_dir)
    assert found is not None
    assert found.env_steps == 6 * BUDGET
    baseline = next(one for one in found.trials if one.is_baseline)
    winner = next(one for one in found.trials if one.trial == found.winner)
    assert winner.value.mean >= baseline.value.mean
    assert ("exceed" in found.verdict) == (winner is not baseline)
    # Nothing is trained again by a process that resumes the study.
    again = runner_of(study, TableExecutor())
    assert again.confirm(units)
    assert again.state.confirm == state.confirm


def test_a_winner_within_the_noise_is_not_called_better(study: Study):
    def fixed(assignment: Mapping[str, PlainValue] | None, seed: int) -> Points:
        top = 100.0 + (assignment is not None) + 40.0 * (seed % 2)
        return [(x, top * x / BUDGET) for x in range(0, BUDGET + 1, 100)]

    runner = runner_of(study, TableExecutor(fixed))
    state = runner.search()
    assert runner.confirm(confirmation_units(study.plan, state.search))
    state = runner.state
    found = confirmation(study.plan, state, study.runs_dir)
    assert found is not None
    assert found.exceeds_noise is False
    assert "does not exceed the noise between seeds" in found.verdict


def test_importance_names_the_parameter_that_matters_with_an_interval():
    plan = plan_of(trials=40, sampler="random", baseline=False)
    found = Runner(SPACE, plan, MemoryJournal(), TableExecutor(), make_proposer(plan)).search()
    result = importance("first", SPACE, plan, found.search)
    assert result.trials == 40
    assert result.parameters[0].name == "algo.lr"
    assert all(one.low <= one.importance <= one.high for one in result.parameters)
    assert sum(one.importance for one in result.parameters) == pytest.approx(1.0)
    assert "40 trials: below 50" in result.caution
    few = plan_of(trials=3, sampler="random", baseline=False)
    short = Runner(SPACE, few, MemoryJournal(), TableExecutor(), make_proposer(few)).search()
    with pytest.raises(UsageError, match="3 trials with results"):
        importance("first", SPACE, few, short.search)


def test_weak_members_of_a_population_copy_strong_ones_and_change_their_values():
    plan = plan_of(mode="pbt", population=8, generations=4, baseline=False, rungs=1)
    executor = TableExecutor()
    found = Runner(SPACE, plan, MemoryJournal(), executor, make_proposer(plan)).search().search
    assert len(found.trials) == 32
    assert all(trial.source is None for trial in found.trials[:8])
    copies = 0
    for trial in found.trials[8:]:
        assert trial.source is not None
        parent = found.trials[trial.source]
        own = trial.number - 8
        assert trial.source // 8 == trial.number // 8 - 1  # of the interval before
        if trial.source == own:
            assert trial.assignment == parent.assignment
        else:
            copies += 1
    assert copies == 3 * 2  # a quarter of eight, three times
    sources = {work.unit.trial: work.source for work in executor.started}
    last = found.trials[-1]
    assert sources[31] == f"study-{last.source:03d}-s0:latest"


def test_the_same_settings_count_as_better_in_a_later_interval():
    """A member that continues has the settings of the interval before, but better weights."""
    plan = plan_of(mode="pbt", population=8, generations=2, baseline=False, rungs=1)
    trials = [Trial(n, {"algo.lr": 10.0 ** -(n % 8)}, {}) for n in range(16)]
    trials = [replace(one, source=one.number - 8 if one.number > 7 else None) for one in trials]
    results = {
        n: Measurement(
            "finished",
            ((0.0, 10.0 * (n // 8) + n % 8), (float(BUDGET), 10.0 * (n // 8) + n % 8)),
            BUDGET,
        )
        for n in range(16)
    }
    known = History(tuple(trials), tuple(Unit(n, n, 0, BUDGET) for n in range(16)), results)
    ranked = [one.trial for one in launch.standings(known, plan.objective, plan.rungs)]
    assert ranked == [*range(15, -1, -1)]


def test_intervals_shorter_than_a_rollout_are_refused_before_anything_runs(runs_dir: Path):
    text = TEXT.replace("eval.episodes: 4", "eval.episodes: 4, env.n_envs: 4, algo.n_steps: 64")
    file = parse_space(text)
    measured = Probe(n_envs=4, budget=BUDGET, steps_per_second=1e4, bytes=1000, threshold=None)
    options = replace(file.options(mode="pbt"), generations=8)  # 225 env steps, less than 4 x 64
    with pytest.raises(UsageError, match="shorter than a rollout of 256") as refused:
        launch.prepare_measured(file, options, measured, runs_dir=runs_dir)
    for setting in ("stop.env_steps", "generations", "algo.n_steps", "env.n_envs"):
        assert setting in refused.value.fix
    enough = replace(options, generations=7)
    assert launch.prepare_measured(file, enough, measured, runs_dir=runs_dir).plan.budget == 258


def test_a_number_of_trials_is_refused_in_population_based_training():
    with pytest.raises(UsageError, match="has no number of trials") as refused:
        parse_space(TEXT).options(mode="pbt", trials=3)
    assert "`population` and `generations`" in refused.value.fix


def test_programs_may_train_only_on_providers_of_the_settings_file(runs_dir: Path):
    for start in (
        lambda: api.sweep_start(TEXT, jobs_on="ssh:somewhere", runs_dir=runs_dir),
        lambda: api.tune_preset("CartPole-v1", jobs_on="ssh:somewhere", runs_dir=runs_dir),
    ):
        with pytest.raises(UsageError, match="no provider is called 'ssh:somewhere'"):
            start()


def test_the_options_of_the_api_are_those_of_a_search():
    own = {"source", "jobs"}
    assert set(SweepOptions.__annotations__) - own <= {one.name for one in fields(SearchOptions)}
    arguments = api.OPERATIONS["sweep_start"].arguments_schema()["properties"]
    assert isinstance(arguments, dict)
    assert set(SweepOptions.__annotations__) < set(arguments)
    for name in SAMPLERS:
        assert name in (api.sweep_start.__doc__ or "")


def test_every_failed_trial_has_a_reason():
    def incomplete(assignment: Mapping[str, PlainValue] | None, seed: int) -> Points:
        if assignment is None:
            return curve(assignment, seed)
        return [(0.0, 1.0)] if assignment["algo.gamma"] == 0.9 else [(100.0, float("nan"))]

    plan = plan_of(trials=8)
    found = Runner(
        SPACE, plan, MemoryJournal(), TableExecutor(incomplete), make_proposer(plan)
    ).search()
    failed = [one for one in found.search.results.values() if one.ended == "failed"]
    assert len(failed) == 8
    assert {one.problem for one in failed} == {
        "a return of its evaluations is not finite",
        "no evaluation in its 200 env steps has a score: gymnast logs ",
    }


def test_an_interval_of_a_population_starts_when_all_of_the_one_before_have_results():
    plan = plan_of(mode="pbt", population=4, generations=2, baseline=False, rungs=1)
    events: list[dict[str, object]] = []
    Runner(SPACE, plan, MemoryJournal(events), TableExecutor(), make_proposer(plan)).search()  # pyright: ignore[reportArgumentType]
    units = [event for event in events if event["event"] == "unit"][:4]
    state = state_of(units)  # pyright: ignore[reportArgumentType]
    assert pbt.decide(plan, state.search) == Wait()
    delays = {0: 5, 1: 0, 2: 3}
    slow = TableExecutor(delay=lambda work: delays.get(work.unit.number % 4, 1))
    again = Runner(SPACE, plan, MemoryJournal(), slow, make_proposer(plan)).search().search
    whole = state_of(events).search  # pyright: ignore[reportArgumentType]
    assert [trial.assignment for trial in again.trials] == [t.assignment for t in whole.trials]


def test_a_pruned_seed_counts_what_was_known_at_its_rung():
    def drops(assignment: Mapping[str, PlainValue] | None, seed: int) -> Points:
        level = -50.0 if seed else 10.0 + 5 * float((assignment or {}).get("algo.gamma", 1.0))  # pyright: ignore[reportArgumentType]
        return [(x, level) for x in range(0, BUDGET + 1, 100)]

    plan = plan_of(trials=12, rungs=2, sampler="random")
    executor = TableExecutor(drops)
    found = Runner(SPACE, plan, MemoryJournal(), executor, make_proposer(plan)).search().search
    pruned = [found.results[unit.number] for unit in found.units if unit.seed > 0]
    assert pruned
    assert executor.pruned
    for one in pruned:
        assert isinstance(one, Measurement)
        assert one.ended == "pruned"
        assert one.env_steps == plan.rungs[0]
        assert max(x for x, _ in one.points) <= plan.rungs[0]


def test_a_proposal_that_equals_the_baseline_is_not_trained_again():
    same = {"algo.gamma": 0.98, "algo.clip": "0.2"}
    fixed: dict[str, PlainValue] = {"algo.gamma": 0.98, "algo.clip": 0.2}
    gammas, clips = Choices("algo.gamma", [0.5, 0.9, 0.98]), Choices("algo.clip", ["0.2", 0.3])
    space = Space(SPACE.target, (gammas, clips), fixed)
    assert space.equals_baseline(same)
    for sampler in ("grid", "random"):
        options = SearchOptions(sampler=sampler, rungs=1, seeds=1)
        plan = studies.make_plan(space, options, Objective(), 20_000)
        assert plan.size == 5
        table = TableExecutor(lambda *_: [(20_000.0, 1.0)])
        found = Runner(space, plan, MemoryJournal(), table, make_proposer(plan)).search().search
        tried = [trial.assignment for trial in found.trials]
        assert len(tried) == 6
        assert tried[0] is None
        assert same not in tried


def test_a_study_whose_trials_fail_says_so_and_is_an_error(study: Study):
    def weak(assignment: Mapping[str, PlainValue] | None, seed: int) -> Points:
        return curve(assignment, seed) if assignment is None else [(0.0, 1.0)]

    runner_of(study, TableExecutor(weak)).search()
    problem = summarize(study).problem
    assert problem.startswith("8 of 9 trials failed, such as trial 1: no evaluation in its 200 env")
    study.journal.append({"event": "confirmed"})
    result = CliRunner().invoke(cli, ["sweep", "resume", study.name], standalone_mode=False)
    assert result.return_value == 1
    assert f"error: {problem}" in result.stderr
    assert f"  {problem}" in CliRunner().invoke(cli, ["sweep", "status", study.name]).stdout


def test_a_study_without_a_usable_trial_says_why(study: Study):
    runner_of(study, TableExecutor(lambda *_: [(0.0, 1.0)])).search()
    with pytest.raises(RunError, match="9 of 9 trials failed, such as trial 0: no evaluation in"):
        api.sweep_best(study.name, runs_dir=study.runs_dir)


def test_a_population_is_not_compared_with_a_first_interval_and_not_called_confirmed(
    runs_dir: Path,
):
    file = parse_space(TEXT)
    plan = studies.make_plan(file.space, file.options(mode="pbt"), file.objective, BUDGET * 8)
    study = studies.create("population", file.space, plan, runs_dir=runs_dir)
    # Later intervals start from inherited weights, and happen to be worse.
    falling = TableExecutor(lambda assignment, _: [(float(BUDGET), 1.0 if assignment else 500.0)])
    state = runner_of(study, falling).search()
    study.journal.append({"event": "confirmed"})
    summary = summarize(study)
    assert summary.baseline_value is None
    assert summary.best is not None
    assert summary.best >= len(state.search.trials) - plan.options.population
    assert not summary.confirmed
    best = api.sweep_best(study.name, runs_dir=runs_dir)
    assert "population-based training has no confirmation" in best.unconfirmed


def test_a_trial_that_fails_before_it_has_a_run_fails_once_and_says_why(runs_dir: Path):
    executor = JobsExecutor("py:tests.scripted:Broken", runs_dir, "first")
    kwargs = {"env.kwargs.how": "raises", "env.kwargs.only": "all", "env.kwargs.at": 1}
    work = Work(Unit(0, 0, 0, 500), kwargs, None, 0, BUDGET, name="first-000-s0")
    executor.start(work)
    measured = wait_for(lambda: executor.poll(work))
    assert measured.ended == "failed"
    assert "the physics went wrong" in measured.problem
    assert len(status.jobs(runs_dir)) == 1


def test_the_limit_of_the_server_is_no_setting_of_the_winner(runs_dir: Path):
    executor = JobsExecutor("CartPole-v1:ppo", runs_dir, "first", run_minutes=2.5)
    work = Work(Unit(0, 0, 0, 500), {}, None, 0, BUDGET, name="first-000-s0")
    started: list[TrainRequest] = []

    def launch_job(request: TrainRequest, **_: object) -> StartedRun:
        started.append(request)
        return StartedRun("id", "started", None, str(runs_dir / "id"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "_launch", launch_job)
        executor.start(work)
        executor.start(replace(work, name="first-001-s0", settings={"stop.minutes": 0.5}))
    assert [request.overrides["stop.minutes"] for request in started] == [2.5, 0.5]
    assert [request.pause_at for request in started] == [500, 500]
