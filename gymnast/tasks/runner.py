"""Runs tasks in child processes: at most a certain number at a time, the others wait in a queue."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from gymnast.errors import (
    Failure,
    GymnastError,
    InternalError,
    TaskCancelled,
    TaskCrashed,
    TaskTimedOut,
    UsageError,
)
from gymnast.processes.per_process import PerProcess
from gymnast.records import from_json, to_json
from gymnast.runs.machine import usable_cores
from gymnast.tasks.task import ENDED, Task, TaskProgress, TaskState
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.tasks.child import Child
    from gymnast.tasks.messages import OutcomeMessage, ProgressMessage, Request

T = TypeVar("T")
GRACE_SECONDS = 5.0
"""Time between SIGTERM and SIGKILL: a task deletes its temporary files meanwhile."""
MAX_QUEUED = 1000
"""Number of tasks that may wait."""
MAX_ENDED = 50
"""Number of ended tasks that are kept with their results; the oldest are forgotten first."""


class TaskRunner:
    """Starts tasks, keeps a bounded history of them, and stops them when this process ends. A server has
    one for all its threads (`default_runner`)."""

    def __init__(self, max_running: int | None = None, *, grace: float = GRACE_SECONDS) -> None:
        """`max_running`: number of child processes at a time; None: one per usable core. `grace`: seconds
        between SIGTERM and SIGKILL."""
        self.max_running = max_running or usable_cores()
        self._pid = os.getpid()
        self.grace = grace
        self._lock = threading.Lock()
        self._tasks: dict[str, Task[object]] = {}
        """All tasks that are not forgotten, oldest first."""
        self._queue: deque[_Job] = deque()
        self._threads = 0
        """Number of threads, each of which runs one task after the other while there are any."""
        self._numbers = count(1)
        atexit.register(self.close)

    def start(
        self,
        function: str,
        arguments: Mapping[str, object],
        result_type: type[T],
        *,
        title: str,
        deadline: float | None = None,
    ) -> Task[T]:
        """Starts a task, or puts it into the queue, and returns it at once. `function`: import path of the
        function to call in the child, with these keyword arguments (values that have a JSON form) and
        `progress`; it returns a record of type `result_type`. `deadline`: seconds after the start of the
        process at which the task is stopped. Raises UsageError if too many tasks are waiting."""
        plain = {name: to_json(value) for name, value in arguments.items()}
        with self._lock:
            if len(self._queue) >= MAX_QUEUED:
                raise UsageError(
                    f"{len(self._queue):,} tasks are waiting already", fix="wait, or cancel some"
                )
            task: Task[T] = Task(f"task-{next(self._numbers)}", title, deadline, result_type)
            request: Request = {"function": function, "arguments": plain, "grace": self.grace}
            job = _Job(task, request)
            self._forget_oldest()
            self._tasks[task.id] = task
            self._queue.append(job)
            if self._threads < self.max_running:
                self._threads += 1
                threading.Thread(target=self._run_queued, name="task", daemon=True).start()
        return task

    def tasks(self) -> list[Task[object]]:
        """Returns the tasks of this process, newest first: all that run or wait, and the last that
        ended."""
        with self._lock:
            return list(reversed(self._tasks.values()))

    def find(self, id: str) -> Task[object]:
        """Returns the task with this id; raises UsageError if there is none."""
        with self._lock:
            if id not in self._tasks:
                raise UsageError(
                    f"there is no task {id}", fix="it may have ended long ago; start it again"
                )
            return self._tasks[id]

    def close(self) -> None:
        """Cancels all tasks and waits until their processes have ended."""
        atexit.unregister(self.close)
        if os.getpid() != self._pid:  # a forked process: the tasks belong to its parent
            return
        with self._lock:
            self._queue.clear()
            tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        for task in tasks:
            task.wait(self.grace + 1.0)

    def _run_queued(self) -> None:
        """Runs tasks from the queue until it is empty."""
        while True:
            with self._lock:
                if not self._queue:
                    self._threads -= 1
                    return
                job = self._queue.popleft()
            job.run()

    def _forget_oldest(self) -> None:
        ended = [id for id, task in self._tasks.items() if task.state in ENDED]
        for id in ended[: max(0, len(ended) - MAX_ENDED + 1)]:
            del self._tasks[id]


@dataclass
class _Job:
    """A task that waits for its turn or runs, with the state of its process."""

    task: Task[object]
    request: Request
    received: OutcomeMessage | None = None
    """The result or the error that the child has sent."""
    stopped_as: TaskState | None = None
    """The reason for ending the process: `cancelled` or `timed_out`; `done` after its outcome has
    arrived."""
    act_at: float | None = None
    """Time (`time.monotonic`) of the next signal: SIGTERM at the deadline, or SIGKILL."""

    def run(self) -> None:
        """Runs the task from the start of its process to its end."""
        from gymnast.tasks.child import Child

        if not self.task._set_running():  # cancelled in the queue
            return
        try:
            child = Child(self.request, self._receive, self.task._add_output)
        except OSError as error:
            problem = InternalError(f"its process cannot be started: {error}")
            self.task._set_failure("failed", problem.to_failure())
            return
        try:
            self.task._set_wake(child.wake)
            if self.task.deadline is not None:
                self.act_at = time.monotonic() + self.task.deadline
            import pydantic  # noqa: F401  # while the child starts; it is needed to read the result

            code = child.wait(lambda: self._act(child))
            self._finish(code)
        except Exception as error:  # a defect: the task must end nevertheless
            child.signal(signal.SIGKILL)
            problem = InternalError(f"{type(error).__name__}: {error}")
            self.task._set_failure("failed", problem.to_failure())
        finally:
            child.close()

    def _receive(self, message: ProgressMessage | OutcomeMessage) -> None:
        if message["kind"] == "progress":
            update = TaskProgress(message["done"], message["total"], message["text"])
            self.task._add_progress(update)
        else:
            self.received = message
            self.stopped_as, self.act_at = "done", time.monotonic() + self.request["grace"]

    def _act(self, child: Child) -> float | None:
        """Sends the signal that is due, and returns the time of the next one."""
        now = time.monotonic()
        due = self.act_at is not None and now >= self.act_at
        if self.stopped_as is not None:
            if due:
                child.signal(signal.SIGKILL)
                self.act_at = None
        elif self.task._cancel_requested or due:
            self.stopped_as = "cancelled" if self.task._cancel_requested else "timed_out"
            child.signal(signal.SIGTERM)
            self.act_at = now + self.request["grace"]
        return self.act_at

    def _finish(self, code: int) -> None:
        """Ends the task with what the child has sent or, without that, with an error that says why there
        is nothing. `code`: the exit code of the process."""
        task = self.task
        if self.received is None:
            error = self._missing_outcome(code)
            state = "failed" if self.stopped_as in (None, "done") else self.stopped_as
            task._set_failure(state, error.to_failure())
        elif self.received["kind"] == "result":
            task._set_result(self.received["value"])
        else:
            failure = from_json(Failure, self.received["value"])
            was_cancelled = failure.code == TaskCancelled.code
            task._set_failure("cancelled" if was_cancelled else "failed", failure)

    def _missing_outcome(self, code: int) -> GymnastError:
        """Returns why the process ended without an outcome."""
        task = self.task
        if self.stopped_as == "cancelled":
            return TaskCancelled(f"{task.title} was cancelled")
        if self.stopped_as == "timed_out":
            took = formatting.duration(task.deadline or 0.0)
            text = f" ({task.progress.text})" if task.progress.text else ""
            problem = f"{task.title} did not finish within {took}{text}"
            return TaskTimedOut(problem, fix="allow it more time")
        end = f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        problem = f"the process of {task.title} {end} before it had a result"
        return TaskCrashed(problem, fix=_last_lines(task.log))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_lines(log: str) -> str:
    """Returns advice on a crash: the end of the log, if there is one."""
    lines = log.strip().splitlines()[-5:]
    return "see what it printed last: " + " | ".join(lines) if lines else ""


default_runner = PerProcess(TaskRunner)
"""The runner of this process."""


def start(
    function: str,
    arguments: Mapping[str, object],
    result_type: type[T],
    *,
    title: str,
    deadline: float | None = None,
) -> Task[T]:
    """Starts a task of the default runner, see `TaskRunner.start`."""
    return default_runner().start(function, arguments, result_type, title=title, deadline=deadline)
