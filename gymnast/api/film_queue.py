"""The films and trajectories that wait to be made after training."""

from __future__ import annotations

from gymnast.runs import film_queue as queue
from gymnast.runs import store
from gymnast.runs.film_queue import FilmRequest
from gymnast.runs.store import RunsDir


def film_queue(*, runs_dir: RunsDir = None) -> tuple[FilmRequest, ...]:
    """Returns the films and trajectories that are being made, or wait, in their order."""
    directory = store.runs_dir(runs_dir)
    running = queue.running(directory)
    return (*((running,) if running is not None else ()), *queue.waiting(directory))


def clear_film_queue(*, runs_dir: RunsDir = None) -> tuple[FilmRequest, ...]:
    """Removes the films and trajectories that wait, and returns them. What is being made is not affected."""
    return tuple(queue.clear(store.runs_dir(runs_dir)))
