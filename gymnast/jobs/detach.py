"""Start a training that outlives the terminal, and be that training."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from gymnast.errors import GymnastError
from gymnast.jobs import queue, record
from gymnast.processes import guard
from gymnast.runs import durable
from gymnast.runs.run import claim

WORDS = 4000
"""Characters kept of what a job said last."""


def start(
    target: str,
    *,
    arguments: Sequence[str],
    runs_dir: Path,
    limit: int,
    **about: Any,
) -> dict[str, Any]:
    """Train `target` in a session of its own, at once or when its turn comes.

    `arguments` are further options of `gymnast train`; `about` is kept in the job's record.
    """
    runs_dir = runs_dir.resolve()
    folder = record.folder_of(runs_dir)
    path = claim(runs_dir)
    try:
        command = [sys.executable, "-m", "gymnast", "train", target, *arguments]
        command += ["--quiet", "--runs", str(runs_dir), "--job", path.name]
        place = queue.arrive(folder, path.name)
        about |= {"target": target, "command": command, "place": place.name, "limit": limit}
        record.write(folder, path.name, **about)
    except BaseException:
        _clear_away(path)
        raise
    started = place.start(limit)
    try:
        child = _spawn([*command, "--place", str(place.handle)], folder, path.name, place.handle)
    except OSError as error:
        place.leave()
        _clear_away(path)
        raise GymnastError(f"cannot start a process: {error.strerror}") from error
    os.close(place.handle)  # the child has it now
    status = "started" if started else "queued"
    return {"id": path.name, "status": status, "pid": child.pid, "path": str(path)}


def attend(
    runs_dir: Path, job_id: str, handle: int, train: Callable[[Path], tuple[int, str]]
) -> int:
    """Be the job: wait for the turn, train into the claimed directory, leave word how it ended.

    `train(path)` returns an exit code and the last words.
    """
    folder, path = record.folder_of(runs_dir), runs_dir / job_id
    job = record.read(folder, job_id)
    place = queue.inherited(folder, job["place"], handle)
    record.update(folder, job_id, pid=os.getpid())
    code, words = 1, ""
    try:
        if _wait_for_turn(place, job["limit"]):
            code, words = train(path)
        else:
            code, words = 0, "stopped before it began"
    except GymnastError as error:
        code, words = error.exit_code, str(error)
        raise
    except BaseException as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else 1
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        raise
    finally:
        _clear_away(path)
        record.update(folder, job_id, ended=time.time(), exit_code=code, words=words[-WORDS:])
        place.leave()
    return code


def _wait_for_turn(place: queue.Place, limit: int) -> bool:
    """False if it was taken out of the queue instead."""
    if (place.folder / queue.RUNNING / place.name).exists():
        return True
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, _leave) for number in numbers}
    try:
        while not place.start(limit):
            if place.given_up:
                return False
            time.sleep(queue.LOOK_SECONDS)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return True


def _leave(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _spawn(command: list[str], folder: Path, job_id: str, handle: int) -> subprocess.Popen[bytes]:
    file = record.output(folder, job_id)
    with durable.explained(file), file.open("wb") as printed:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # no terminal: closing one does not reach it
            env=guard.detached(),
            pass_fds=[handle],
        )
    child.returncode = 0  # it is to outlive this process: nobody waits for it
    return child


def _clear_away(path: Path) -> None:
    """The directory of a job that did not become a run."""
    if not (path / "run.json").exists():
        shutil.rmtree(path, ignore_errors=True)
