"""Every operation of the API that starts a task returns its typed record, and the commands use them."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import gymnast
from gymnast import api
from gymnast.api.tasks import TaskOutcome
from gymnast.cli import cli
from gymnast.errors import Failure, RunError, TaskCancelled, UsageError
from gymnast.evaluation.record import EvaluationReport
from gymnast.progress import no_progress
from gymnast.records import from_json, to_json
from gymnast.tasks import Task
from tests.small_runs import SMALL
from tests.waiting import PATIENCE

CARTPOLE = SMALL | {
    "env.n_envs": 4,
    "algo.n_steps": 16,
    "stop.env_steps": 128,
    "eval.every": "64 env_steps",
}
TAG = CARTPOLE | {"env.kwargs": {"time_limit": 9}, "league.opponents": ["weak"]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a runs directory with a run `alone` of CartPole and a run `roles` of tag."""
    path = Path(tmp_path_factory.mktemp("tasks")) / "runs"
    gymnast.train("CartPole-v1", overrides=CARTPOLE, name="alone", quiet=True, runs_dir=path)
    gymnast.train("tag:selfplay", overrides=TAG, name="roles", quiet=True, runs_dir=path)
    return path


@pytest.fixture(autouse=True)
def use_runs(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GYMNAST_RUNS", str(runs))


CALLS: dict[str, list[dict[str, Any]]] = {
    "eval": [
        {"ref": "alone", "episodes": 2},
        {"ref": "alone:latest", "episodes": 1, "sampled": True, "seed": 3},
        {"ref": "roles", "episodes": 2},
        {"ref": "roles", "episodes": 2, "roles": {"hider": "random"}},
    ],
    "check": [{"target": "CartPole-v1", "steps": 50}, {"target": "tag", "steps": 20}],
    "check_all": [{"targets": ["FrozenLake-v1:ppo"], "steps": 20}],
    "nightly": [{"steps": ["config"], "minutes": 1, "seed": 3}],
    "net": [{"target": "Pendulum-v1", "overrides": {"policy.hidden": [4]}}, {"target": "alone"}],
    "blunders": [{"ref": "alone", "budget": 2000}, {"ref": "alone", "horizon": 3}],
    "roll_out": [{"ref": "alone", "seed": 3}, {"ref": "roles", "roles": {"hider": "random"}}],
    "audit": [{"ref": "alone"}, {"ref": "roles", "episodes": 2}],
    "video": [{"ref": "alone", "grid": "OUT/grid.png"}, {"ref": "alone", "out": "OUT/film.mp4"}],
    "frames": [
        {"ref": "alone", "last": 4, "every": 2},
        {"ref": "roles", "episode": "0", "last": 1},
    ],
    "trajectories": [{"ref": "alone"}, {"ref": "roles", "data": "OUT/data"}],
    "trajectory_metrics": [{"ref": "alone"}, {"ref": "roles", "kind": "confirm"}],
    "trajectory_paths": [{"ref": "roles", "number": 0, "out": "OUT/paths"}],
    "trajectory_replay": [
        {"ref": "alone", "out": "OUT/films"},
        {"ref": "roles", "number": 0, "out": "OUT/films", "fps": 60.0},
    ],
    "cross_play": [{"ref": "roles", "episodes": 1, "max_snapshots": 2}],
    "tune_envs": [
        {"target": "CartPole-v1", "backends": ["inprocess"], "copies": [2], "seconds": 0.1}
    ],
    "tune_scale": [
        {
            "target": "CartPole-v1",
            "seconds": 0.1,
            "overrides": {"env.n_envs": 2, "algo.n_steps": 16, "algo.batch_size": 32},
        }
    ],
    "review": [{"ref": "alone", "budget": 9000}, {"ref": "roles", "out": "OUT/bundle.md"}],
    "spaces": [{"target": "MountainCarContinuous-v0"}, {"target": "CartPole"}],
}
"""Operation -> arguments with which it takes a second or two."""


def test_all_operations_that_start_tasks_are_tried() -> None:
    assert CALLS.keys() == {op.name for op in api.OPERATIONS.values() if op.effect == api.TASK}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param(name, one, marks=[pytest.mark.slow] if i else [], id=f"{name}-{i}")
        for name, calls in CALLS.items()
        for i, one in enumerate(calls)
    ],
)
def test_the_result_of_a_task_round_trips_through_its_type(
    name: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    operation = api.OPERATIONS[name]
    plain = json.loads(json.dumps(arguments).replace("OUT", str(tmp_path)))
    task = operation.function(**plain)
    assert isinstance(task, Task)
    result = task.result()
    assert isinstance(result, operation.result_type)
    assert from_json(operation.result_type, to_json(result)) == result
    assert operation.result_schema()["type"] == operation.arguments_schema()["type"] == "object"
    assert operation.description
    if name == "video":
        assert Path(result.films[0].path).stat().st_size > 1000


def test_an_operation_is_called_by_name_and_its_task_found_by_id() -> None:
    started = api.call("eval", {"ref": "alone", "episodes": 2})
    assert not isinstance(started, Failure)
    info = started.value
    outcome = api.task_result(info.id, timeout=PATIENCE)  # type: ignore[attr-defined]
    assert outcome.state == "done"
    assert from_json(TaskOutcome, to_json(outcome)) == outcome
    report = from_json(EvaluationReport, outcome.result)  # type: ignore[arg-type]
    assert report.score is not None
    assert report.score.episodes == len(report.score.returns) == 2
    assert api.task(outcome.id).state == "done"
    assert outcome.id in [one.id for one in api.tasks()]
    with pytest.raises(UsageError, match="there is no task"):
        api.task("task-0")


def test_a_task_gives_the_same_numbers_as_the_function_in_this_process() -> None:
    score = api.eval("alone", episodes=3).result().score
    assert score == gymnast.evaluate("alone", episodes=3)


def test_a_mistake_of_the_user_is_the_error_that_it_was() -> None:
    with pytest.raises(RunError, match="nobody"):
        api.eval("nobody").result()
    with pytest.raises(UsageError, match="no check 'finit'; did you mean"):
        api.check("CartPole-v1", allow=["finit"])
    with pytest.raises(UsageError, match="is a run"):
        api.net("alone", overrides={"policy.hidden": [4]})


def test_frames_are_pngs_of_the_chosen_steps_in_base64_or_files(tmp_path: Path) -> None:
    inline = api.frames("alone", first=1, last=7, every=3).result()
    assert [frame.step for frame in inline.frames] == [1, 4, 7]
    assert inline.exact
    files = api.frames("alone", first=1, last=7, every=3, out=str(tmp_path / "x")).result()
    for one, other in zip(inline.frames, files.frames, strict=True):
        png = base64.b64decode(one.png)
        assert png[:4] == b"\x89PNG"
        assert Path(other.path).read_bytes() == png
        assert (other.png, one.path) == ("", "")
    drawn = api.frames("alone", last=0, overlay=True).result().frames[0]
    assert drawn.height > inline.frames[0].height
    with pytest.raises(UsageError, match="no steps from 3 to 2"):
        api.frames("alone", first=3, last=2)


@pytest.mark.parametrize(
    ("bound", "value", "problem"),
    [("MAX_FRAMES", 3, "4 frames are more than 3"), ("MAX_BASE64_BYTES", 5000, "more than 5,000")],
)
def test_frames_are_bounded_in_number_and_size(
    bound: str, value: int, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gymnast.film import task

    monkeypatch.setattr(task, bound, value)
    with pytest.raises(UsageError, match=problem):
        task.frames(
            "alone",
            episode="best",
            kind="eval",
            first=0,
            last=3,
            every=1,
            overlay=True,
            out=None,
            runs_dir=os.environ["GYMNAST_RUNS"],
            progress=no_progress,
        )


def test_reading_ratings_starts_no_task() -> None:
    before = len(api.tasks())
    found = api.league("roles")
    assert {entrant.role for entrant in found.ratings.entrants} == {"seeker", "hider"}
    assert from_json(type(found), to_json(found)) == found
    assert len(api.tasks()) == before


def test_the_matrix_is_printed_as_a_table_of_win_rates() -> None:
    words = ["league", "roles", "--matrix", "--episodes", "1", "--max-snapshots", "2"]
    page = CliRunner().invoke(cli, words, catch_exceptions=False).stdout
    assert "seeker \\ hider" in page
    assert "win rate of the seeker" in page
    assert "matrix.png" in page


IMPORTS = """
import sys
from gymnast import api
for operation in api.OPERATIONS.values():
    operation.function
assert api.check("CartPole-v1", steps=20).result().wrong == 0
loaded = [name for name in ("torch", "gymnasium", "pygame", "av") if name in sys.modules]
assert not loaded, loaded
"""


def test_the_api_loads_neither_torch_nor_gymnasium_even_after_a_task() -> None:
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a named pipe, which the environment `Hangs` holds open."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    monkeypatch.setenv("HANGS_PIPE", str(path))
    return path


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)]
)
def test_a_command_that_is_interrupted_leaves_nothing_running(
    pipe: Path, number: int, code: int
) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "gymnast", "check", "py:tests.tasks.envs:Hangs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with pipe.open() as held:
        assert held.readline() == "ready\n"
        command.send_signal(number)
        assert held.read() == ""  # returns when the task has ended
    assert command.communicate()[0] == b""
    assert command.returncode == code


def test_a_task_of_the_api_is_cancelled_by_its_id(pipe: Path) -> None:
    task = api.check("py:tests.tasks.envs:Hangs")
    with pipe.open() as held:
        assert held.readline() == "ready\n"
        assert api.cancel_task(task.id).state == "cancelled"
        assert held.read() == ""
    with pytest.raises(TaskCancelled):
        task.result()


def test_an_operation_has_a_deadline(pipe: Path) -> None:
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    outcome = api.check("py:tests.tasks.envs:Hangs", deadline=0.5).outcome()
    assert isinstance(outcome, Failure)
    assert outcome.code == "timed_out"
    assert "check py:tests.tasks.envs:Hangs did not finish within 0.5 s" in outcome.message
    assert os.read(reader, 100) in (b"", b"ready\n")  # depends on how far it came
    assert os.read(reader, 100) == b""  # raises BlockingIOError as long as somebody holds the pipe
    os.close(reader)


def test_what_an_environment_prints_never_mixes_with_the_output_of_a_command() -> None:
    words = ["check", "py:tests.tasks.envs:Prints", "--steps", "20", "--json"]
    done = subprocess.run([sys.executable, "-m", "gymnast", *words], capture_output=True, text=True)
    assert json.loads(done.stdout)["target"]
    assert "environment: reset with print\n" in done.stderr
    assert "reset with C code\n" in done.stderr


def test_an_environment_that_aborts_is_an_error_of_the_command() -> None:
    words = ["check", "py:tests.tasks.envs:Dies"]
    done = subprocess.run([sys.executable, "-m", "gymnast", *words], capture_output=True, text=True)
    assert done.returncode == 1
    assert "was ended by SIGABRT" in done.stderr
    assert done.stdout == ""
