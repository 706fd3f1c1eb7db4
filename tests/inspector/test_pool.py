"""Workers of the inspector answer, survive errors, are replaced after crashes, and leave nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gymnast.errors import GymnastError, InternalError, RunError, TaskCrashed, TaskTimedOut
from gymnast.inspector.client import InspectorPool
from tests.inspector.functions import Said
from tests.waiting import PATIENCE

FUNCTIONS = "tests.inspector.functions"


@pytest.fixture(scope="module")
def shared() -> Iterator[InspectorPool]:
    """A pool for tests that do not care how many workers there are."""
    pool = InspectorPool(warm=False)
    yield pool
    pool.close()


@pytest.fixture
def pool() -> Iterator[InspectorPool]:
    pool = InspectorPool(warm=False)
    yield pool
    pool.close()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe, which functions hold open."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def ask(pool: InspectorPool, function: str, run: str = "a", **more: object) -> Said:
    deadline = float(str(more.pop("deadline", PATIENCE)))
    return pool.call(f"{FUNCTIONS}:{function}", f"/runs/{run}", more, Said, deadline=deadline)


def test_records_and_bytes_arrive_as_they_were_sent(shared: InspectorPool):
    assert ask(shared, "echo", text="ü\n\0 'x'").text == "ü\n\0 'x'"
    said, payload = shared.call_binary(f"{FUNCTIONS}:large", "/runs/a", {"n": 2_000_000}, Said)
    assert payload == b"\0\n" * 2_000_000
    assert str(said.numbers) == str((float("nan"), 0.1 + 0.2))


def test_the_output_of_an_environment_does_not_reach_the_protocol(shared: InspectorPool):
    for text in ("a line", '{"kind": "result", "value": 1}'):
        assert ask(shared, "print_and_echo", text=text).text == text


def test_errors_arrive_as_they_were_raised_and_the_worker_stays(shared: InspectorPool):
    pid = ask(shared, "echo").pid
    with pytest.raises(RunError) as raised:
        ask(shared, "fail")
    error = raised.value
    assert (error.message, error.at, error.fix) == ("there is no run x", "runs/x", "train one")
    for function, word in (("divide", "ZeroDivisionError"), ("leave", "SystemExit")):
        with pytest.raises(InternalError, match=word) as internal:
            ask(shared, function)
        assert "functions.py:" in internal.value.at
    with pytest.raises(InternalError, match="nothing"):
        shared.call("nothing", "/runs/a", {}, Said)
    assert ask(shared, "echo").pid == pid


@pytest.mark.parametrize(("how", "word"), [("exit", "exit code 7"), ("kill", "SIGKILL")])
def test_a_crash_is_reported_with_the_last_output_and_another_worker_starts(
    shared: InspectorPool, how: str, word: str
):
    before = ask(shared, "echo").pid
    with pytest.raises(TaskCrashed, match=word) as raised:
        ask(shared, "crash", how=how)
    assert "the last words" in raised.value.fix
    assert ask(shared, "echo").pid != before


def test_a_worker_that_ends_quietly_again_and_again_is_an_error(pool: InspectorPool):
    with pytest.raises(GymnastError):
        ask(pool, "crash", how="quiet exit")


def test_the_deadline_ends_the_worker_and_what_it_started(pool: InspectorPool, pipe: Path):
    before = ask(pool, "echo").pid
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as read:
        with pytest.raises(TaskTimedOut, match=r"did not finish within 3"):
            ask(pool, "hang", pipe=str(pipe), deadline=3.0)
        os.set_blocking(read.fileno(), True)
        assert read.read() == b"ready\n"  # until nobody holds the pipe
    assert ask(pool, "echo").pid != before


def test_each_run_keeps_its_worker_and_a_third_gets_the_least_recently_used(pool: InspectorPool):
    first, second = ask(pool, "echo", "a").pid, ask(pool, "echo", "b").pid
    assert first != second
    assert ask(pool, "echo", "a").pid == first
    assert ask(pool, "echo", "c").pid == second
    assert [ask(pool, "echo", run).pid for run in "abc"] == [first, second, second]
    assert sorted(pool.pids()) == sorted([first, second])


def test_calls_about_two_runs_run_at_the_same_time_and_those_about_one_wait(
    pool: InspectorPool, tmp_path: Path
):
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    with ThreadPoolExecutor() as threads:
        one = threads.submit(ask, pool, "meet", "a", mine=here, other=there)
        two = threads.submit(ask, pool, "meet", "b", mine=there, other=here)
        assert (one.result().text, two.result().text) == ("True", "True")
        texts = [str(i) for i in range(30)]
        said = list(threads.map(lambda text: ask(pool, "echo", "a", text=text), texts))
    assert [answer.text for answer in said] == texts
    assert len({answer.pid for answer in said}) == 1


def test_a_warm_worker_is_used_by_the_first_call(pool: InspectorPool):
    pool.warm()
    pid = ask(pool, "echo", "a").pid
    pool.warm("/runs/a")  # has its worker
    assert pool.pids() == [pid]


def test_closing_ends_the_workers_and_a_later_call_starts_one(pool: InspectorPool, pipe: Path):
    with ThreadPoolExecutor() as threads:
        reading = threads.submit(pipe.read_bytes)
        before = ask(pool, "hold", pipe=str(pipe)).pid
        pool.close()
        assert reading.result() == b""
    assert pool.pids() == []
    assert ask(pool, "echo").pid != before


def test_closing_ends_a_call(pool: InspectorPool, pipe: Path):
    with ThreadPoolExecutor() as threads:
        hanging = threads.submit(ask, pool, "hang", pipe=str(pipe))
        with pipe.open("rb") as read:
            assert read.readline() == b"ready\n"
            pool.close()
            assert read.read() == b""
        with pytest.raises(TaskCrashed):
            hanging.result()


def test_an_idle_worker_ends_and_the_next_call_starts_another(pipe: Path):
    pool = InspectorPool(idle_seconds=0.05, warm=False)
    try:
        with ThreadPoolExecutor() as threads:
            reading = threads.submit(pipe.read_bytes)
            before = ask(pool, "hold", pipe=str(pipe)).pid
            assert reading.result() == b""  # it has ended by itself
        assert [ask(pool, "echo", text=str(i)).text for i in range(3)] == ["0", "1", "2"]
        assert before not in pool.pids()
    finally:
        pool.close()


def test_a_worker_is_replaced_when_the_user_edits_code_that_it_has_imported(
    pool: InspectorPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = tmp_path / "user_code.py"
    code.write_text("NAME = 'first'")
    first = ask(pool, "name_of_user_module")
    assert (first.text, ask(pool, "name_of_user_module")) == ("first", first)
    code.write_text("NAME = 'the second'")
    second = ask(pool, "name_of_user_module")
    assert second.text == "the second"
    assert second.pid != first.pid


def test_workers_end_with_the_process_that_started_them(pipe: Path):
    code = f"""
from gymnast.inspector import client
from tests.inspector.functions import Said
from tests.waiting import PATIENCE
client.call("{FUNCTIONS}:hold", "/runs/a", {{"pipe": {str(pipe)!r}}}, Said)
"""
    owner = subprocess.Popen([sys.executable, "-c", code])
    assert pipe.read_bytes() == b""
    assert owner.wait() == 0


def test_a_worker_does_not_outlive_a_killed_owner(pipe: Path):
    code = f"""
from gymnast.inspector.client import InspectorPool
from tests.inspector.functions import Said
from tests.waiting import PATIENCE
pool = InspectorPool(warm=False)
pool.call("{FUNCTIONS}:hang", "/runs/a", {{"pipe": {str(pipe)!r}}}, Said)
"""
    owner = subprocess.Popen([sys.executable, "-c", code])
    try:
        with pipe.open("rb") as read:
            assert read.readline() == b"ready\n"
            owner.send_signal(signal.SIGKILL)
            assert read.read() == b""  # the worker and what it started have ended
    finally:
        owner.kill()
        owner.wait()
