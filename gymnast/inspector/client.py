"""The inspector's workers, as seen by the process that asks them: a pool of warm processes.

This module imports neither torch nor gymnasium. Starting a worker takes a second, most of it for imports,
so workers stay, with the episodes that they have opened, until they have been idle for a while.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Mapping
from typing import TypeVar

from gymnast.errors import (
    Failure,
    GymnastError,
    InternalError,
    TaskCrashed,
    TaskTimedOut,
    from_failure,
)
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.process import WorkerEnded, WorkerProcess
from gymnast.inspector.protocol import Answer, Request
from gymnast.inspector.table_bytes import put_table
from gymnast.processes.per_process import PerProcess
from gymnast.records import from_json, to_json
from gymnast.text import formatting

T = TypeVar("T")
MAX_WORKERS = 2
"""Number of processes: one for each of two runs that are compared."""
IDLE_SECONDS = 300.0
"""Time without a request after which a worker ends."""
DEADLINE_SECONDS = 60.0
"""Default time that a call may take."""
MAX_STARTS = 3
"""Number of processes that are started for one call, if they end by themselves before they answer."""


class InspectorPool:
    """Calls functions of the inspector in worker processes. All methods may be called from any thread; calls
    to one worker wait for each other. A run keeps its worker, which has its episodes open."""

    def __init__(
        self,
        max_workers: int = MAX_WORKERS,
        *,
        idle_seconds: float = IDLE_SECONDS,
        warm: bool = True,
    ) -> None:
        """`warm`: workers import at their start what opening an episode needs."""
        self._lock, self._pid = threading.Lock(), os.getpid()
        self._workers = [_Worker(idle_seconds, warm=warm) for _ in range(max_workers)]
        atexit.register(self.close)

    def call(
        self,
        function: str,
        about: EpisodeAddress | str,
        arguments: Mapping[str, object],
        result_type: type[T],
        *,
        deadline: float = DEADLINE_SECONDS,
    ) -> T:
        """Calls a function (see `gymnast.inspector.worker.FUNCTIONS`) and returns its record. `about`: the
        episode, or the path of a run, that is its first argument; `arguments`: its keyword arguments, which
        have a JSON form. Raises the GymnastError that the function raised, TaskTimedOut after `deadline`
        seconds, and TaskCrashed if the process ends; a later call starts a new one."""
        return put_table(
            *self.call_binary(function, about, arguments, result_type, deadline=deadline)
        )

    def call_binary(
        self,
        function: str,
        about: EpisodeAddress | str,
        arguments: Mapping[str, object],
        result_type: type[T],
        *,
        deadline: float = DEADLINE_SECONDS,
    ) -> tuple[T, bytes]:
        """Calls a function that returns a record and bytes, and is else like `call`."""
        run = about if isinstance(about, str) else about.run
        episode = None if isinstance(about, str) else to_json(about)
        assert episode is None or isinstance(episode, dict)
        request: Request = {
            "function": function,
            "run": run,
            "episode": episode,
            "arguments": {name: to_json(value) for name, value in arguments.items()},
        }
        answer, payload = self._choose(run).call(request, deadline)
        if answer["kind"] == "failure":
            raise from_failure(from_json(Failure, answer["value"]))
        return from_json(result_type, answer["value"]), payload

    def warm(self, run: str | None = None) -> None:
        """Starts a worker ahead of need, without waiting for it, unless this run has one, one is free, or
        there is no room for another."""
        with self._lock:
            running = [worker for worker in self._workers if worker.is_running()]
            if any(not worker.runs or run in worker.runs for worker in running):
                return
            free = next((worker for worker in self._workers if worker not in running), None)
        if free is not None:
            threading.Thread(target=free.start, name="inspector start", daemon=True).start()

    def pids(self) -> list[int]:
        """Returns the process ids of the running workers."""
        return [w.process.pid for w in self._workers if w.process is not None and w.is_running()]

    def close(self) -> None:
        """Ends all workers. A later call starts new ones."""
        atexit.unregister(self.close)
        if os.getpid() == self._pid:  # the workers of a forked process belong to its parent
            for worker in self._workers:
                worker.close()

    def _choose(self, run: str) -> _Worker:
        """Returns the worker for a run: its own, else one without a run, else the least recently used."""
        with self._lock:
            # Running workers first: a warm one answers at once.
            workers = sorted(self._workers, key=lambda worker: not worker.is_running())
            chosen = next((worker for worker in workers if run in worker.runs), None)
            chosen = chosen or next((worker for worker in workers if not worker.runs), None)
            chosen = chosen or min(workers, key=lambda worker: worker.used)
            chosen.runs.add(run)
            chosen.used = time.monotonic()
            return chosen


class _Worker:
    """A place for one process, which is started when it is needed."""

    def __init__(self, idle_seconds: float, *, warm: bool) -> None:
        self._idle_seconds, self._warm = idle_seconds, warm
        self._turn = threading.Lock()
        self.process: WorkerProcess | None = None
        self.runs: set[str] = set()
        """The runs whose calls come here, as long as the process runs: it has their episodes open."""
        self.used = 0.0
        """Time of the last call."""

    def is_running(self) -> bool:
        """Returns whether there is a process. The runs of one that has ended are forgotten."""
        if self.process is None or self.process.is_running:
            return self.process is not None
        if not self._turn.locked():
            self.runs.clear()
        return False

    def start(self) -> None:
        """Starts the process, unless it runs."""
        with self._turn:
            self._started()

    def call(self, request: Request, deadline: float) -> tuple[Answer, bytes]:
        """Calls the process when it is free; starts it if there is none."""
        with self._turn:
            for _ in range(MAX_STARTS):
                process = self._started()
                try:
                    return process.call(request, deadline)
                except TimeoutError:
                    took = formatting.duration(deadline)
                    problem = f"{request['function']} did not finish within {took}"
                    raise TaskTimedOut(problem, at=request["run"], fix="try again") from None
                except WorkerEnded as ended:
                    if not ended.can_retry:
                        raise self._crash(request, process, ended.reason) from None
            raise InternalError("the inspector's process ends as soon as it starts")

    def close(self) -> None:
        """Ends the process. A call that waits for its answer raises TaskCrashed."""
        if not self._turn.acquire(blocking=False):
            if self.process is not None:  # ends the call that has the lock
                self.process.kill()
            self._turn.acquire()
        try:
            if self.process is not None:
                self.process.close()
            self.process = None
            self.runs.clear()
        finally:
            self._turn.release()

    def _started(self) -> WorkerProcess:
        if self.process is not None and not self.process.is_running:
            self.process.end()  # it may have left processes running
            self.process = None
        if self.process is None:
            try:
                self.process = WorkerProcess(self._idle_seconds, warm=self._warm)
            except OSError as error:
                raise InternalError(f"the inspector's process cannot be started: {error}") from None
        return self.process

    def _crash(self, request: Request, process: WorkerProcess, reason: str) -> GymnastError:
        printed = process.last_output()
        fix = f"see what it printed last: {printed}" if printed else ""
        problem = f"the inspector's process {reason} during {request['function']}"
        return TaskCrashed(problem, at=request["run"], fix=fix)


default_pool = PerProcess(InspectorPool)
"""The pool of this process."""


def call(
    function: str,
    about: EpisodeAddress | str,
    arguments: Mapping[str, object],
    result_type: type[T],
    *,
    deadline: float = DEADLINE_SECONDS,
) -> T:
    """Calls a function in a worker of the default pool, see `InspectorPool.call`."""
    return default_pool().call(function, about, arguments, result_type, deadline=deadline)
