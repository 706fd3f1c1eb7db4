"""Tasks end with a result, an error, a cancellation or a deadline, and leave nothing running."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymnast import errors, records
from gymnast.errors import (
    ConfigError,
    Failure,
    GymnastError,
    TaskTimedOut,
    UsageError,
    from_failure,
)
from gymnast.tasks import Task, TaskInfo, TaskProgress, TaskRunner, runner
from tests.tasks.functions import Answer

FUNCTIONS = "tests.tasks.functions"


@pytest.fixture
def tasks() -> Iterator[TaskRunner]:
    running = TaskRunner(2, grace=0.3)
    yield running
    running.close()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Returns a named pipe, which `hang` and its grandchild hold open."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def start(
    tasks: TaskRunner, function: str, *, deadline: float | None = None, **arguments: object
) -> Task[Answer]:
    path = f"{FUNCTIONS}:{function}"
    return tasks.start(path, arguments, Answer, title=f"{function} it", deadline=deadline)


def failure_of(task: Task[Answer]) -> Failure:
    outcome = task.outcome()
    assert isinstance(outcome, Failure)
    return outcome


def test_a_task_returns_the_record_that_its_function_returns(tasks: TaskRunner) -> None:
    task = start(tasks, "add", a=3, b=4)
    assert task.result() == task.outcome() == Answer(7)
    info = task.info()
    assert (info.state, info.title, info.failure) == ("done", "add it", None)
    assert info.started is not None
    assert info.ended is not None
    assert info.created <= info.started <= info.ended


def test_a_result_may_be_larger_than_a_pipe_and_keeps_every_bit(tasks: TaskRunner) -> None:
    n = 3_000_000
    assert start(tasks, "big", n=n).result() == Answer(
        n, "x" * n, tuple(i / 7 for i in range(n // 100))
    )
    nan, infinite, *rest = start(tasks, "special").result().numbers
    assert math.isnan(nan)
    assert [infinite, *map(repr, rest)] == [math.inf, "-0.0", repr(0.1 + 0.2), "5e-324"]


def test_an_error_arrives_as_a_value_and_as_the_exception_it_was(tasks: TaskRunner) -> None:
    task = start(tasks, "fail")
    assert task.outcome() == Failure("run", "there is no run x", "runs/x", "train one")
    assert task.state == "failed"
    with pytest.raises(errors.RunError, match="there is no run x"):
        task.result()
    with pytest.raises(ConfigError, match="first problem\nsecond problem") as raised:
        start(tasks, "fail_config").result()
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    ("function", "word"), [("divide", "ZeroDivisionError"), ("leave", "SystemExit")]
)
def test_an_unexpected_exception_is_an_internal_error_with_its_traceback_in_the_log(
    tasks: TaskRunner, function: str, word: str
) -> None:
    task = start(tasks, function)
    assert failure_of(task).code == "internal"
    assert word in failure_of(task).message
    assert "functions.py" in task.log
    assert "Traceback" in task.log


@pytest.mark.parametrize(
    ("how", "word"), [("exit", "exit code 7"), ("segfault", "SIGSEGV"), ("kill", "SIGKILL")]
)
def test_a_crash_of_the_process_is_an_error_that_names_it(
    tasks: TaskRunner, how: str, word: str
) -> None:
    task = start(tasks, "crash", how=how)
    assert failure_of(task).code == "crashed"
    assert word in failure_of(task).message
    assert "crash it" in failure_of(task).message
    assert task.state == "failed"


def test_what_the_function_prints_is_in_the_log(tasks: TaskRunner) -> None:
    task = start(tasks, "print_lines", text="a line\nanother")
    task.result()
    assert "environment: a line\nenvironment: another\n" in task.log
    assert "descriptor 1\n" in task.log
    assert "descriptor 2\n" in task.log


@pytest.mark.parametrize("ignore", [False, True])
def test_cancelling_ends_the_process_and_what_it_started(
    tasks: TaskRunner, pipe: Path, tmp_path: Path, ignore: bool
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    task = start(tasks, "hang", pipe=str(pipe), ignore=ignore, folder=str(folder))
    with pipe.open() as held:
        assert held.readline() == "ready\n"
        task.cancel()
        assert held.read() == ""  # returns when nobody holds the pipe
    assert task.wait()
    assert task.state == "cancelled"
    assert failure_of(task).code == "cancelled"
    if not ignore:
        assert list(folder.iterdir()) == []  # SIGTERM came first, so it cleaned up
    task.cancel()  # has no effect
    assert task.state == "cancelled"


def test_a_deadline_ends_a_task_and_says_what_was_running(tasks: TaskRunner, pipe: Path) -> None:
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    task = start(tasks, "hang", pipe=str(pipe), ignore=False, deadline=1.0)
    assert task.wait()
    assert (task.state, failure_of(task).code) == ("timed_out", "timed_out")
    doing = f" ({task.progress.text})" if task.progress.text else ""
    assert failure_of(task).message == f"hang it did not finish within 1.0 s{doing}"
    assert os.read(reader, 100) in (b"", b"ready\n")  # depends on how far it came
    assert os.read(reader, 100) == b""  # raises BlockingIOError as long as somebody holds the pipe
    os.close(reader)
    with pytest.raises(TaskTimedOut):
        task.result()


OWNER = """
import os, signal, sys
from gymnast.tasks import TaskRunner
from tests.tasks.functions import Answer
tasks = TaskRunner(grace=0.3)
arguments = {"pipe": sys.argv[1], "ignore": sys.argv[2] == "ignore"}
task = tasks.start("tests.tasks.functions:hang", arguments, Answer, title="hang")
task.watch(on_progress=lambda update: HOW)
"""


@pytest.mark.parametrize("ignore", ["ignore", "end"])
@pytest.mark.parametrize(
    "how", ["os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(3)", "os._exit(3)", "1 / 0"]
)
def test_a_task_ends_with_its_owner_however_that_ends(pipe: Path, how: str, ignore: str) -> None:
    script = OWNER.replace("HOW", how)
    owner = subprocess.Popen(
        [sys.executable, "-c", script, str(pipe), ignore], stderr=subprocess.PIPE
    )
    with pipe.open() as held:
        assert held.read() == "ready\n"  # the task and its grandchild have ended
    owner.communicate()
    assert owner.returncode == {"os.k": -signal.SIGKILL, "1 / ": 1}.get(how[:4], 3)


def test_no_more_tasks_run_at_a_time_than_the_runner_allows() -> None:
    tasks = TaskRunner(2)
    infos = [
        task.info() for task in [start(tasks, "add", a=i, b=0) for i in range(6)] if task.wait()
    ]
    assert [info.state for info in infos] == ["done"] * 6
    for info in infos:
        assert info.started is not None
        at_the_same_time = [x for x in infos if x.started <= info.started < x.ended]  # pyright: ignore
        assert len(at_the_same_time) <= 2
    tasks.close()


def test_a_queued_task_waits_and_can_be_cancelled(pipe: Path) -> None:
    tasks = TaskRunner(1, grace=0.3)
    first = start(tasks, "hang", pipe=str(pipe), ignore=False)
    second, third = (start(tasks, "add", a=1, b=i) for i in range(2))
    with pipe.open() as held:
        held.readline()
        assert (first.state, second.state, third.state) == ("running", "queued", "queued")
        second.cancel()
        assert second.wait(0)
        assert (second.state, second.info().started) == ("cancelled", None)
        assert not third.wait(0)
        first.cancel()
    assert third.result() == Answer(2)
    assert [task.id for task in tasks.tasks()] == [third.id, second.id, first.id]


def test_the_queue_is_bounded(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MAX_QUEUED", 1)
    tasks = TaskRunner(1, grace=0.3)
    start(tasks, "hang", pipe=str(pipe), ignore=False)
    with pipe.open() as held:
        held.readline()
        start(tasks, "add", a=1, b=1)
        with pytest.raises(UsageError, match="1 tasks are waiting"):
            start(tasks, "add", a=1, b=1)
        tasks.close()
        assert held.read() == ""


def test_old_tasks_are_forgotten(tasks: TaskRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MAX_ENDED", 2)
    started = [start(tasks, "add", a=i, b=0) for i in range(4) if tasks.tasks() is not None]
    for task in started:
        task.wait()
    last = start(tasks, "add", a=9, b=0)
    assert len(tasks.tasks()) == 2
    assert tasks.find(last.id) is last
    with pytest.raises(UsageError, match="there is no task task-1"):
        tasks.find("task-1")


def test_progress_never_goes_back_and_ends_at_the_end(tasks: TaskRunner) -> None:
    seen: list[TaskProgress] = []
    task = start(tasks, "count", n=20_000)
    task.watch(seen.append)
    assert seen[-1] == task.progress == TaskProgress(20_000, 20_000)
    assert len(seen) < 100  # most of them are not sent
    again: list[TaskProgress] = []
    task = start(tasks, "restart")
    task.watch(again.append)
    assert [update.done for update in again] == sorted(update.done for update in again)
    assert [update.text for update in again if update.text.startswith("second")] == [
        f"second {i}" for i in range(10)
    ]  # every new text is sent


def test_watching_delivers_all_output(tasks: TaskRunner) -> None:
    parts: list[str] = []
    task = start(tasks, "print_lines", text="\n".join(map(str, range(1000))))
    task.watch(on_output=parts.append)
    assert "".join(parts) == task.log
    assert "environment: 999\n" in task.log


def test_many_threads_share_one_runner(tasks: TaskRunner) -> None:
    results: dict[int, Answer] = {}

    def ask(i: int) -> None:
        results[i] = start(tasks, "add", a=i, b=i).result()

    threads = [threading.Thread(target=ask, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: Answer(2 * i) for i in range(8)}


def test_a_task_is_described_by_a_record(tasks: TaskRunner) -> None:
    task = start(tasks, "fail")
    task.wait()
    assert records.from_json(TaskInfo, records.to_json(task.info())) == task.info()


def test_every_error_survives_the_way_through_its_value() -> None:
    def classes(kind: type[GymnastError]) -> Iterator[type[GymnastError]]:
        yield kind
        for subclass in kind.__subclasses__():
            yield from classes(subclass)

    known = [kind for kind in classes(GymnastError) if kind.__module__ == errors.__name__]
    assert len({kind.code for kind in known}) == len(known)
    for kind in known:
        error = kind("message", at="place", fix="advice")
        again = from_failure(error.to_failure())
        assert (type(again), str(again), again.exit_code) == (kind, str(error), kind.exit_code)
    unknown = Failure("unheard_of", "message")
    assert from_failure(unknown).to_failure() == unknown
