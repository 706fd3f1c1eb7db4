"""The job queue: a limited number at once, first come, first served; a killed job frees its place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gymnast.errors import UsageError
from gymnast.jobs import queue


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".jobs"


def test_jobs_start_in_order_of_arrival_up_to_the_limit(folder: Path):
    first, second, third = (queue.enqueue(folder, name) for name in ("a", "b", "c"))
    assert not second.try_start(2), "the first job is ahead of it"
    assert first.try_start(2)
    assert not third.try_start(2), "the second job is ahead of it"
    assert second.try_start(2)
    assert not third.try_start(2), "two are running"
    assert queue.job_states(folder) == {"a": "running", "b": "running", "c": "queued"}
    first.release()
    assert not third.try_start(1), "its own limit counts"
    assert third.try_start(2)


def test_a_job_removed_from_the_queue_never_starts(folder: Path):
    first, second = queue.enqueue(folder, "a"), queue.enqueue(folder, "b")
    assert queue.cancel(folder, "a")
    assert not queue.cancel(folder, "a")
    assert first.is_cancelled
    assert not first.try_start(9)
    assert second.try_start(1)
    assert not queue.cancel(folder, "b"), "it is running, so it must be stopped by a command"


HOLD = """
import sys, time, pathlib
from gymnast.jobs import queue
place = queue.enqueue(pathlib.Path(sys.argv[1]), sys.argv[2])
print(place.try_start(1), flush=True)
time.sleep(60)
"""


def test_a_killed_job_frees_its_place_whether_running_or_queued(folder: Path):
    started = []
    for name in ("runs", "waits"):
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder), name], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        started.append((child, child.stdout.readline().strip()))
    last = queue.enqueue(folder, "last")
    try:
        assert [output for _, output in started] == ["True", "False"]
        assert not last.try_start(1)
        started[1][0].kill()
        started[1][0].wait()
        assert not last.try_start(1), "one still runs"
        started[0][0].kill()
        started[0][0].wait()
        assert last.try_start(1)
        assert queue.job_states(folder) == {"last": "running"}
    finally:
        for child, _ in started:
            child.kill()
            child.communicate()


def test_a_child_that_inherits_a_place_holds_it_after_its_parent_closes_it(folder: Path):
    place = queue.enqueue(folder, "a")
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        pass_fds=[place.fd],
    )
    os.close(place.fd)
    try:
        assert queue.job_states(folder) == {"a": "queued"}
    finally:
        child.communicate()
    assert queue.job_states(folder) == {}


def test_concurrent_arrivals_never_exceed_the_limit(folder: Path):
    """Twelve processes compete for two places, each for a moment."""
    work = HOLD.replace("print(place.try_start(1), flush=True)", TURN).replace("time.sleep(60)", "")
    children = [
        subprocess.Popen([sys.executable, "-c", work, str(folder), f"j{i}"]) for i in range(12)
    ]
    assert [child.wait() for child in children] == [0] * 12
    spans = [tuple(map(int, p.read_text().split())) for p in folder.glob("*.span")]
    assert len(spans) == 12
    assert max(sum(a <= start < b for a, b in spans) for start, _ in spans) == 2


TURN = """
while not place.try_start(2):
    time.sleep(0.01)
began = time.monotonic_ns()
time.sleep(0.03)
ended = time.monotonic_ns()
(place.folder / f"{sys.argv[2]}.span").write_text(f"{began} {ended}")
place.release()
"""


def test_the_limit_is_the_option_or_the_environment_variable_or_the_number_of_cores(monkeypatch):
    monkeypatch.delenv(queue.JOBS_VARIABLE, raising=False)
    assert queue.max_jobs(None) == len(os.sched_getaffinity(0))
    monkeypatch.setenv(queue.JOBS_VARIABLE, "7")
    assert (queue.max_jobs(None), queue.max_jobs(3)) == (7, 3)
    for wrong in ("0", "many", "-1"):
        monkeypatch.setenv(queue.JOBS_VARIABLE, wrong)
        with pytest.raises(UsageError, match="GYMNAST_JOBS"):
            queue.max_jobs(None)
