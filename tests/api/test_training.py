"""Background training through the API: start, wait, resume, branch, groups, queue, errors."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import gymnast
from gymnast import api
from gymnast.api.calling import Success
from gymnast.errors import ConfigError, Failure, RunError, UsageError
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.api.background import ENDLESS, TINY, assert_round_trips, wait_until
from tests.small_runs import checkpoint_arrays, same_arrays
from tests.waiting import PATIENCE, wait_for


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs_dir = tmp_path_factory.mktemp("finished") / "runs"
    return gymnast.train("CartPole-v1", overrides=TINY, quiet=True, runs_dir=runs_dir)


@pytest.fixture
def finished(trained_once: Run, runs_dir: Path) -> Run:
    """Returns a finished run in the runs directory of the test."""
    shutil.copytree(trained_once.path, runs_dir / trained_once.id)
    return Run(runs_dir / trained_once.id)


def test_a_run_is_started_waited_for_resumed_stopped_and_removed(runs_dir: Path):
    started = api.start("CartPole-v1", overrides=TINY, seed=3, name="mine", tags=["a", "b"])
    assert started.group is None
    (first,) = started.runs
    assert (first.name, first.seed, Path(first.path).parent) == ("mine", 3, runs_dir)
    (ended,) = api.wait(["mine"], timeout=PATIENCE)
    assert (ended.id, ended.status) == (first.id, "finished"), ended.reason
    info = Run(first.path).info
    assert (info["seed"], info["tags"], info["clocks"]["env_steps"]) == (3, ["a", "b"], 256)
    assert Run(first.path).provenance()["policy.hidden"] == "--set"

    again = api.resume("mine", overrides={"stop.env_steps": "50M"})
    assert (again.id, again.path) == (first.id, first.path)
    wait_for(lambda: Run(first.path).info["clocks"]["env_steps"] > 256)
    (stopped,) = api.stop("mine")
    assert (stopped.status, stopped.answered, stopped.dequeued) == ("stopped", True, False)
    assert stopped.env_steps is not None
    assert stopped.env_steps > 256
    (job,) = api.jobs()
    assert (job.id, job.status, job.target) == (first.id, "stopped", "CartPole-v1:ppo")

    removed = api.remove(["mine"])
    assert [run.id for run in removed.runs] == [first.id]
    assert not Path(first.path).exists()
    for record in (started, first, ended, again, stopped, job, removed):
        assert_round_trips(record)


def test_a_run_that_is_resumed_in_the_background_equals_one_that_never_stopped():
    constant = TINY | {"algo.lr": 1e-3, "algo.clip": 0.2}  # schedules depend on the budget
    whole, half = (
        api.start("CartPole-v1", overrides=constant | {"stop.env_steps": steps}).runs[0]
        for steps in (256, 128)
    )
    api.wait([whole.id, half.id], timeout=PATIENCE)
    resumed = api.resume(half.id, overrides={"stop.env_steps": 256})
    assert api.wait([resumed.id], timeout=PATIENCE)[0].status == "finished"
    for stem in ("policy", "learner", "collector"):
        arrays = [checkpoint_arrays(Run(run.path), stem) for run in (whole, half)]
        assert same_arrays(*arrays), stem


def test_a_branch_from_an_earlier_checkpoint_is_a_new_run(finished: Run):
    early = [*checkpoint.list_checkpoints(finished.path)][1]
    new = api.resume(finished.id, at=str(early), overrides={"algo.lr": 1e-4}, name="slower")
    assert (new.id != finished.id, new.name) == (True, "slower")
    (ended,) = api.wait([new.id], timeout=PATIENCE)
    assert ended.status == "finished", ended.reason
    info = Run(new.path).info
    assert (info["parent"], info["parent_step"]) == (finished.id, early)


def test_a_branch_with_the_name_of_another_run_is_refused_before_a_job_starts(finished: Run):
    finished.update(name="mine")
    early = [*checkpoint.list_checkpoints(finished.path)][1]
    with pytest.raises(RunError, match="the name 'mine' is taken"):
        api.resume(finished.id, at=str(early), name="mine")
    assert api.jobs() == []


def test_the_seeds_of_a_group_start_from_the_run_that_was_the_last_when_they_were_started(
    finished: Run,
):
    group = api.start("CartPole-v1", overrides=TINY, source="@last", seeds=2, max_jobs=1)
    assert {run.status for run in api.wait([group.group or ""], timeout=PATIENCE)} == {"finished"}
    assert [Run(run.path).info["parent"] for run in group.runs] == [finished.id] * 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "is finished (budget of 256 env steps spent)"),
        ({"overrides": {"stop.env_steps": 16}}, "a budget of 16 env_steps is too small"),
        ({"overrides": {"stop.env_steps": 512, "seed": 7}}, "resume cannot change seed"),
        ({"at": "99"}, "99"),
        ({"name": "another"}, "--name and --tag do not apply"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("tasks_here")
def test_a_resume_that_cannot_work_is_refused_before_a_job_starts(
    arguments: dict[str, object], problem: str, finished: Run
):
    before = finished.info
    refused = api.call("resume", {"run": finished.id, **arguments})
    assert isinstance(refused, Failure)
    assert problem in refused.message
    assert api.jobs() == []
    assert Run(finished.path).info == before


def test_a_run_that_is_active_is_not_resumed():
    (run,) = api.start("CartPole-v1", overrides=ENDLESS).runs
    wait_until(run.id, "running")
    with pytest.raises(RunError, match="is running"):
        api.resume(run.id)


def test_the_seeds_of_a_group_are_named_waited_for_and_scored():
    plan = api.dry_run("CartPole-v1", overrides=TINY, seed=5, seeds=2, name="pair")
    started = api.start("CartPole-v1", overrides=TINY, seed=5, seeds=2, name="pair")
    assert started.group == "pair"
    assert [(run.seed, run.name) for run in started.runs] == [(5, "pair-s5"), (6, "pair-s6")]
    assert (plan.seeds, plan.names) == ((5, 6), ("pair-s5", "pair-s6"))
    assert {run.status for run in api.wait(["pair"], timeout=PATIENCE)} == {"finished"}
    result = api.group("pair")
    assert (result.runs, result.scored) == (2, 2)
    assert [entry.seed for entry in result.scores] == [5, 6]
    assert result.low is not None
    for record in (plan, started, result):
        assert_round_trips(record)
    ids = [run.id for run in started.runs]
    assert api.group("+".join(ids)) == api.group(f"{ids[0]}+pair-s6+{ids[0]}") == result
    for unknown in ("nobody", f"{ids[0]}+nobody"):
        with pytest.raises(RunError, match="nobody"):
            api.group(unknown)


@pytest.mark.usefixtures("tasks_here")
def test_overrides_are_a_mapping_or_the_texts_of_set():
    texts = [f"{key}={value}" for key, value in TINY.items()] + ["algo.lr=3e-4 -> 0"]
    as_texts = api.dry_run("CartPole-v1", overrides=texts)
    assert as_texts == api.dry_run("CartPole-v1", overrides=TINY | {"algo.lr": "3e-4 -> 0"})
    assert as_texts != api.dry_run("CartPole-v1", overrides=TINY)
    with pytest.raises(ConfigError, match="sets nothing"):
        api.dry_run("CartPole-v1", overrides=["algo.lr"])


def test_a_waiting_job_can_be_cancelled_and_a_running_one_cannot():
    (first,) = api.start("CartPole-v1", overrides=ENDLESS, max_jobs=1).runs
    (second,) = api.start("CartPole-v1", overrides=ENDLESS, max_jobs=1, name="late").runs
    assert (first.status, second.status) == ("started", "queued")
    with pytest.raises(UsageError, match=f"taken by job {second.id}"):
        api.start("CartPole-v1", overrides=TINY, name="late")
    assert api.cancel("late").status == "stopped"
    assert api.wait([second.id], timeout=PATIENCE)[0].reason == "stopped before it started"
    with pytest.raises(RunError, match="does not wait in the queue"):
        api.cancel(first.id)


def test_waiting_ends_at_the_timeout_with_the_status_of_active_runs(finished: Run):
    (endless,) = api.start("CartPole-v1", overrides=ENDLESS).runs
    ended, active = api.wait([endless.id, finished.id], timeout=0.5)
    assert (ended.id, ended.is_live) == (finished.id, False)
    assert (active.id, active.is_live) == (endless.id, True)


def test_a_dry_run_returns_the_plan_and_writes_nothing(runs_dir: Path):
    plan = api.dry_run("CartPole-v1", overrides=TINY | {"stop.env_steps": 8}, seed=7)
    assert (plan.seeds, plan.is_group, plan.preflight.seed) == ((7,), False, 7)
    assert plan.preflight.budget == {"env_steps": 8}
    hidden = next(s for s in plan.preflight.settings if s.key == "policy.hidden")
    assert (hidden.value, hidden.origin) == ("[8]", "--set")
    assert "the budget (8) is less than one rollout (32 env steps)" in plan.preflight.warnings
    assert "8 env steps" in plan.text
    assert not runs_dir.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"target": "CartPole-v1", "overrides": {"algo.lrr": 1}}, "config", "algo.lrr"),
        (
            {"target": "CartPole-v1", "overrides": {"shaping.count.weight": 1}},
            "config",
            "shaping.count",
        ),
        (
            {"target": "tag:selfplay", "overrides": {"roles.hider.plays": "scripted:hard"}},
            "config",
            "no scripted hider 'hard'",
        ),
        ({"target": "NoSuchThing-v9"}, "environment", "NoSuchThing"),
        ({"target": "CartPole-v1", "source": "nothing"}, "run", "nothing"),
        ({"target": "CartPole-v1", "name": "a/b"}, "run", "cannot name a run"),
        ({"target": "CartPole-v1", "seeds": 0}, "usage", "at least one seed"),
        ({"target": "CartPole-v1", "seeds": "many"}, "usage", "seeds"),
        ({"targets": "CartPole-v1"}, "usage", "target"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
@pytest.mark.usefixtures("tasks_here")
def test_a_mistake_is_a_failure_as_a_value_and_nothing_starts(
    arguments: dict[str, object], code: str, message: str, runs_dir: Path
):
    failed = api.call("start", arguments)
    assert isinstance(failed, Failure)
    planned = api.call("dry_run", arguments)
    assert isinstance(planned, Failure)
    assert planned.message == failed.message
    assert (failed.code, message in failed.message) == (code, True), failed
    assert_round_trips(failed)
    assert not list(runs_dir.glob("*")) if runs_dir.exists() else True


def test_operations_are_called_by_name_with_json_arguments():
    called = api.call("start", {"target": "CartPole-v1", "overrides": TINY, "tags": ["json"]})
    assert isinstance(called, Success)
    (listed,) = api.jobs()
    done = api.call("wait", {"refs": [listed.id], "timeout": 60})
    assert isinstance(done, Success)
    assert isinstance(done.value, list)
    assert done.value[0].status == "finished"
