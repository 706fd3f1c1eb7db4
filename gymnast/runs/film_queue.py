"""The films and trajectories that wait to be made: empty files in the runs directory, which one process at a
time takes (`film/worker.py`), however many runs there are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gymnast.errors import GymnastError
from gymnast.runs import document, durable, files, lock
from gymnast.runs.episodes import list_episodes
from gymnast.runs.run import Run

Part = Literal["trajectories", "films"]
PARTS: tuple[Part, ...] = ("trajectories", "films")
"""The parts of a run; those of all runs are made in this order."""
_PREFIX = ".film-"


@dataclass(frozen=True)
class FilmRequest:
    """The films or the trajectories of a run, which wait or are being made."""

    run: str
    """Id of the run."""
    part: Part
    running: bool = False
    """Whether they are being made."""
    steps: int = 0
    """Steps of the longest episode of the best evaluation; shorter films are made first."""

    def file(self, runs_dir: Path) -> Path:
        return runs_dir / f"{_PREFIX}{self.part}-{self.run}"


def lock_file(runs_dir: Path) -> Path:
    """Returns the file that is locked by the process that makes films; it says what it makes."""
    return runs_dir / ".film-lock"


def add(run: Path, part: Part) -> None:
    """Adds the films or the trajectories of a run to the queue of its runs directory."""
    FilmRequest(run.name, part).file(run.parent).touch()


def waiting(runs_dir: Path) -> list[FilmRequest]:
    """Returns what waits, in the order in which it is made: trajectories first, then the shortest films."""
    found: list[FilmRequest] = []
    for part in PARTS:
        prefix = f"{_PREFIX}{part}-"
        names = [file.name.removeprefix(prefix) for file in runs_dir.glob(f"{prefix}*")]
        requests = [FilmRequest(name, part, steps=_steps(runs_dir / name)) for name in names]
        found += sorted(requests, key=lambda request: (request.steps, request.run))
    return found


def running(runs_dir: Path) -> FilmRequest | None:
    """Returns what is being made."""
    file = lock_file(runs_dir)
    if not lock.is_locked(file):
        return None
    try:
        run, part = document.parse(tuple[str, Part], files.read(file))
    except (OSError, ValueError):
        return None
    return FilmRequest(run, part, running=True)


def take(runs_dir: Path) -> FilmRequest | None:
    """Removes the first request from the queue and returns it; None if nothing waits. To be called by the
    process that holds the lock."""
    for request in waiting(runs_dir):
        with suppress(FileNotFoundError):  # the queue was cleared
            request.file(runs_dir).unlink()
            content = document.dumps((request.run, request.part))
            lock_file(runs_dir).write_bytes(content.encode())
            return request
    return None


def clear(runs_dir: Path) -> list[FilmRequest]:
    """Removes what waits and returns it. What is being made is not affected."""
    requests = waiting(runs_dir)
    for request in requests:
        with durable.explain_os_errors(runs_dir):
            request.file(runs_dir).unlink(missing_ok=True)
    return requests


def _steps(run: Path) -> int:
    try:
        best = Run(run).info["checkpoints"]["best"]
        return max((info.length for info in list_episodes(Run(run), "eval", best)), default=0)
    except (GymnastError, OSError, ValueError):
        return 0  # the run was deleted
