"""Both ends of a background job: starting the process, and what that process does."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NoReturn

from gymnast.errors import GymnastError, RunError
from gymnast.jobs import queue, record
from gymnast.jobs.status import read_status
from gymnast.processes import guard
from gymnast.runs import checkpoint, durable, files, layout, store
from gymnast.runs.run import create_run_dir
from gymnast.training.request import ResumeRequest, TrainRequest

Train = Callable[[record.JobRecord, Path], tuple[int, str]]
"""Trains a job into a directory; returns an exit code and a final message."""
MAX_MESSAGE_CHARS = 4000
"""Maximum number of characters kept of a job's final message."""


@dataclass(frozen=True)
class StartedRun:
    """A run that trains in the background, now or when its turn comes."""

    id: str
    status: Literal["started", "queued"]
    pid: int | None
    """The process that trains it; None if that is not on this machine."""
    path: str
    """Directory of the run."""
    name: str = ""
    seed: int | None = None
    group: str | None = None
    on: str = ""
    """The provider that it was submitted to; empty: this machine."""


def start_job(
    request: TrainRequest | ResumeRequest,
    *,
    runs_dir: Path,
    limit: int,
    target: str = "",
    seed: int | None = None,
) -> StartedRun:
    """Starts a process that trains or resumes in its own session, now or when its turn in the queue comes.

    `limit`: the number of jobs that train at once; `target` and `seed` of a run to be resumed, for listings.
    Raises RunError if the run to be resumed is active, and GymnastError if the process cannot be started.
    """
    # 1. Claim the run directory, a place in the queue and the record, while an error can still be shown.
    runs_dir = runs_dir.resolve()
    folder = record.jobs_dir(runs_dir)
    path, attempts = claim(request, runs_dir)
    try:
        place = queue.enqueue(folder, path.name)
        job = job_request(request, target=target, seed=seed, attempts=attempts)
        record.write(folder, path.name, job, place=place.name, limit=limit)
    except BaseException:
        delete_unless_run(path)
        raise
    try:
        pid, started = start_worker(runs_dir, path.name, place, limit)
    except OSError as error:
        delete_unless_run(path)
        raise GymnastError(f"cannot start a process: {error.strerror}") from error
    return StartedRun(
        path.name,
        "started" if started else "queued",
        pid,
        str(path),
        job["name"],
        job["seed"],
        job["group"],
    )


def job_request(
    request: TrainRequest | ResumeRequest, *, target: str, seed: int | None, attempts: int
) -> record.JobRequest:
    """Returns the fields of a job's record that say what to do. `target` and `seed` of a run to be resumed,
    for listings; `attempts`: how often the run was started before."""
    training = isinstance(request, TrainRequest)
    return record.JobRequest(
        kind="train" if training else "resume",
        request=asdict(request),
        target=request.target if training else target,
        name=request.name,
        group=request.group if training else None,
        seed=request.seed if training else seed,
        attempts=attempts,
    )


def start_worker(
    runs_dir: Path, job_id: str, place: queue.QueueEntry, limit: int
) -> tuple[int, bool]:
    """Starts the process of a job, whose record exists; returns its pid, and whether it trains at once or
    waits. The process inherits the open file of its place, and with it the lock on that file. Raises OSError,
    after releasing the place, if no process can be started."""
    started = place.try_start(limit)
    command = [sys.executable, "-P", "-m", "gymnast.jobs.worker", "job", str(runs_dir), job_id]
    try:
        child = _spawn([*command, str(place.fd)], record.jobs_dir(runs_dir), job_id, place.fd)
    except OSError:
        place.release()
        raise
    os.close(place.fd)  # the child has inherited it
    return child.pid, started


def claim(request: TrainRequest | ResumeRequest, runs_dir: Path) -> tuple[Path, int]:
    """Returns the directory of the run, and how often the run was started before. It is a new directory,
    unless a run itself is resumed. Raises RunError if that run is active or waits to be resumed."""
    if isinstance(request, TrainRequest) or branches(request, runs_dir):
        return create_run_dir(runs_dir), 0
    run, _ = store.resolve(request.run, runs_dir)
    if (now := read_status(run.path)).is_live:
        raise RunError(f"{run.id} is {now.status}", fix=f"gymnast stop {run.id}")
    return run.path, run.info["attempts"]


def branches(request: ResumeRequest, runs_dir: Path) -> bool:
    """True if a new run would continue from the checkpoint, and not the run itself. Raises RunError if there
    is no such run or checkpoint."""
    run, named = store.resolve(request.run, runs_dir)
    at = request.checkpoint(named)
    if at == "latest":
        return False
    saved = checkpoint.find(run.path, at)
    return saved.step < max(checkpoint.list_checkpoints(run.path))


def run_queued_job(runs_dir: Path, job_id: str, fd: int, train: Train) -> int:
    """Runs the job in this process: waits for its turn, trains into the claimed directory, records the end.
    Returns the exit code; errors of the training are recorded and raised again.

    `fd`: the inherited descriptor of the job's place in the queue.
    """
    folder = record.jobs_dir(runs_dir)
    job = record.read(folder, job_id)
    place = queue.inherit_entry(folder / job.get("queue", ""), job.get("place", ""), fd)
    limit = job.get("limit", 1)
    return run_job(runs_dir, job, train, lambda: _wait_for_turn(place, limit), place.release)


def run_job(
    runs_dir: Path,
    job: record.JobRecord,
    train: Train,
    wait_for_turn: Callable[[], bool] = lambda: True,
    release: Callable[[], None] = lambda: None,
) -> int:
    """Runs a job in this process and records its end; returns the exit code. `wait_for_turn` returns False if
    the job was removed from the queue; `release` frees its place there."""
    folder, path = record.jobs_dir(runs_dir), runs_dir / job["id"]
    # A job that a scheduler starts again has the end of its previous process.
    record.update(folder, job["id"], pid=os.getpid(), ended=None, exit_code=None, words="")
    code, words = 1, ""
    try:
        if wait_for_turn():
            code, words = train(job, path)
        else:
            code, words = 0, "stopped before it started"
    except GymnastError as error:
        code, words = error.exit_code, str(error)
        raise
    except BaseException as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else 1
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        raise
    finally:
        delete_unless_run(path)
        # The record comes before the release: a job without a lock and without an end counts as lost.
        record.update(
            folder, job["id"], ended=time.time(), exit_code=code, words=words[-MAX_MESSAGE_CHARS:]
        )
        release()
    return code


def _wait_for_turn(place: queue.QueueEntry, limit: int) -> bool:
    """Waits until fewer than `limit` jobs train and none is ahead in the queue. Returns True when the job may
    train, False if it was removed from the queue. Raises KeyboardInterrupt on SIGTERM and SIGHUP."""
    if (place.folder / queue.RUNNING / place.name).exists():
        return True  # `start_job` has moved it already
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, _interrupt) for number in numbers}
    try:
        while not place.try_start(limit):
            if place.is_cancelled:
                return False
            time.sleep(queue.POLL_SECONDS)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return True


def _interrupt(*_: object) -> NoReturn:
    """A signal handler that ends the waiting like Ctrl-C, so that the end is recorded."""
    raise KeyboardInterrupt


def _spawn(command: list[str], folder: Path, job_id: str, fd: int) -> subprocess.Popen[bytes]:
    """Starts the process of a job, which outlives this one and inherits the file descriptor `fd`. Its output
    goes to the job's output file in `folder`."""
    file = files.refuse_link(record.output_file(folder, job_id))
    with durable.explain_os_errors(file), file.open("wb") as printed:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # no terminal, so closing one does not stop it
            env=guard.detached_environ(),
            pass_fds=[fd],
        )
    child.returncode = 0  # it outlives this process: no ResourceWarning for not waiting
    return child


def delete_unless_run(path: Path) -> None:
    """Deletes the claimed directory if the job did not become a run."""
    if not layout.RUN.path(path).exists():
        shutil.rmtree(path, ignore_errors=True)
