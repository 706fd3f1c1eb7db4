"""The status of a job, derived from its run, the queue and its record, whichever knows best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gymnast.errors import RunError
from gymnast.jobs import queue, record, status
from gymnast.runs.run import Run
from tests.api.background import assert_round_trips
from tests.runs.conftest import make_run as make_run

Maker = Callable[..., Run]


@pytest.fixture
def job(runs_dir: Path) -> Iterator[Callable[..., queue.QueueEntry]]:
    """Returns a function that writes the record of a job and holds its place in the queue."""
    places: list[queue.QueueEntry] = []

    def write(job_id: str, *, kind: record.JobKind = "train", attempts: int = 0):
        folder = record.jobs_dir(runs_dir)
        place = queue.enqueue(folder, job_id)
        places.append(place)
        request = record.JobRequest(
            kind=kind,
            request={"target": "A"},
            target="A",
            name=f"name-{job_id}",
            group=None,
            seed=1,
            attempts=attempts,
        )
        record.write(folder, job_id, request, place=place.name, limit=1)
        return place

    yield write
    for place in places:
        place.release()


def now(runs_dir: Path, job_id: str) -> str:
    return status.read_status(runs_dir / job_id).status


def test_a_job_without_a_run_has_the_status_of_the_queue_and_then_of_its_record(
    runs_dir: Path, job: Callable[..., queue.QueueEntry]
):
    folder, place = record.jobs_dir(runs_dir), job("a")
    job("b")
    assert [found.reason for found in status.jobs(runs_dir)] == ["1 ahead of it", "it is next"]
    assert place.try_start(1)
    assert (now(runs_dir, "a"), now(runs_dir, "b")) == ("starting", "queued")
    assert queue.cancel(folder, "b")
    assert now(runs_dir, "b") == "lost", "nothing says yet why it ended"
    record.update(folder, "b", cancelled=True)
    assert now(runs_dir, "b") == "stopped"
    (folder / queue.RUNNING / place.name).unlink()
    record.update(folder, "a", ended=1.0, exit_code=1, words="error: no\nmore")
    assert status.read_status(runs_dir / "a").reason == "error: no"
    assert status.find("name-a", runs_dir).status == "failed"
    for found in status.jobs(runs_dir):
        assert_round_trips(found)


def test_a_run_that_waits_to_be_resumed_is_queued_until_its_next_attempt_begins(
    runs_dir: Path, job: Callable[..., queue.QueueEntry], make_run: Maker
):
    run = make_run(status="stopped", attempts=2)
    assert now(runs_dir, run.id) == "stopped"
    place = job(run.id, kind="resume", attempts=2)
    assert now(runs_dir, run.id) == "queued"
    assert not status.has_ended(run.path)
    assert place.try_start(1)
    assert now(runs_dir, run.id) == "starting"
    run.update(attempts=3, status="finished")
    assert now(runs_dir, run.id) == "finished", "although its process has not left the queue yet"


def test_a_job_that_trains_has_the_status_of_its_run(
    runs_dir: Path, job: Callable[..., queue.QueueEntry], make_run: Maker
):
    run = make_run(status="finished")
    job(run.id)
    assert now(runs_dir, run.id) == "finished"


def test_records_that_cannot_be_read_are_listed_last_with_the_problem(
    runs_dir: Path, job: Callable[..., queue.QueueEntry]
):
    folder = record.jobs_dir(runs_dir)
    job("good")
    (folder / "bad.json").write_text("not json")
    (folder / "newer.json").write_text('{"version": 99}')
    listed = status.jobs(runs_dir)
    assert [found.id for found in listed] == ["good", "bad", "newer"]
    assert [found.status for found in listed[1:]] == ["unreadable"] * 2
    assert "unknown job format 99" in listed[2].reason
    with pytest.raises(RunError):
        status.find("bad", runs_dir)
