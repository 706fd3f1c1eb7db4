"""A task as its owner sees it: state, progress, log and outcome. The runner updates it from its threads."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from gymnast.errors import Failure, TaskCancelled, from_failure
from gymnast.records import JsonValue, from_json

T_co = TypeVar("T_co", covariant=True)
TaskState = Literal["queued", "running", "done", "failed", "cancelled", "timed_out"]
ENDED: tuple[TaskState, ...] = ("done", "failed", "cancelled", "timed_out")
LOG_CHARS = 100_000
"""Maximum length of the log; the oldest output is dropped."""
MAX_UPDATES = 1000
"""Number of progress updates that `watch` can lag behind."""


@dataclass(frozen=True)
class TaskProgress:
    """The progress of a task."""

    done: int = 0
    """Amount of work that is done: steps, episodes, matches. It never decreases."""
    total: int = 0
    """Amount of work in total; 0 if it is not known yet."""
    text: str = ""
    """The latest part of the work, in words; may be empty."""


@dataclass(frozen=True)
class TaskInfo:
    """A task, described."""

    id: str
    """Id of the task in its process."""
    title: str
    """The work that it does, such as `check CartPole-v1`."""
    state: TaskState
    """The state; a task has ended unless it is queued or running."""
    progress: TaskProgress
    """The latest progress."""
    created: float
    """Unix time of its creation."""
    started: float | None
    """Unix time at which its process started; None while it is queued."""
    ended: float | None
    """Unix time of its end; None before."""
    deadline: float | None
    """Seconds after the start of its process at which it is stopped; None: no limit."""
    failure: Failure | None
    """The reason why it has no result; None unless it ended without one."""


def _print_to_stderr(text: str) -> None:
    print(text, end="", file=sys.stderr)


class Task(Generic[T_co]):
    """A function call in a child process. All methods may be called from any thread."""

    def __init__(
        self, id: str, title: str, deadline: float | None, result_type: type[T_co]
    ) -> None:
        self.id, self.title, self.deadline = id, title, deadline
        self._result_type = result_type
        self._changed = threading.Condition()
        self._state: TaskState = "queued"
        self._updates: deque[TaskProgress] = deque(maxlen=MAX_UPDATES)
        self._n_updates = 0
        """Number of progress updates so far, of which `_updates` keeps the last ones."""
        self._log, self._n_chars = "", 0
        """The last part of the output, and the number of characters that were written in total."""
        self._outcome: T_co | Failure | None = None
        self._cancel_requested = False
        self._on_cancel: Callable[[], None] = lambda: None
        """Wakes up the thread that runs the task; it does not block."""
        self._created = time.time()
        self._started: float | None = None
        self._ended: float | None = None

    @property
    def state(self) -> TaskState:
        return self._state

    @property
    def progress(self) -> TaskProgress:
        with self._changed:
            return self._updates[-1] if self._updates else TaskProgress()

    @property
    def log(self) -> str:
        """The output of the environment, warnings, and the traceback of an unexpected error."""
        return self._log

    def info(self) -> TaskInfo:
        """Returns the description of the task as a record."""
        with self._changed:
            return TaskInfo(
                id=self.id,
                title=self.title,
                state=self._state,
                progress=self._updates[-1] if self._updates else TaskProgress(),
                created=self._created,
                started=self._started,
                ended=self._ended,
                deadline=self.deadline,
                failure=self._outcome if isinstance(self._outcome, Failure) else None,
            )

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the task has ended, at most `timeout` seconds. Returns True if it has; then its
        process and all processes that it started have ended too."""
        with self._changed:
            return self._changed.wait_for(lambda: self._state in ENDED, timeout)

    def outcome(self) -> T_co | Failure:
        """Waits for the end of the task and returns its result, or why there is none."""
        self.wait()
        assert self._outcome is not None
        return self._outcome

    def result(self) -> T_co:
        """Waits for the end of the task and returns its result, or raises the GymnastError that ended
        it."""
        outcome = self.outcome()
        if isinstance(outcome, Failure):
            raise from_failure(outcome)
        return outcome

    def cancel(self) -> None:
        """Stops the task and every process that it started, and returns at once: `wait` waits until they
        have ended. A task that has ended stays as it is."""
        with self._changed:
            self._cancel_requested = True
            if self._state == "queued":
                self._outcome = TaskCancelled(f"{self.title} was cancelled").to_failure()
                self._end("cancelled")
            self._on_cancel()

    def watch(
        self,
        on_progress: Callable[[TaskProgress], None] = lambda _: None,
        on_output: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Waits for the end of the task and calls, in this thread, `on_progress` with every progress
        update and `on_output` with the text that the environment printed, from the start of the task
        on."""
        updates = chars = 0
        ended = False
        while not ended:
            with self._changed:
                while self._state not in ENDED and (updates, chars) == (
                    self._n_updates,
                    self._n_chars,
                ):
                    self._changed.wait()
                ended = self._state in ENDED
                n_new, updates = self._n_updates - updates, self._n_updates
                new = list(self._updates)[-n_new:] if n_new else []
                n_new, chars = self._n_chars - chars, self._n_chars
                text = self._log[-n_new:] if n_new else ""
            if text:
                on_output(text)
            for update in new:
                on_progress(update)

    def finish(
        self,
        on_progress: Callable[[TaskProgress], None] = lambda _: None,
        on_output: Callable[[str], None] = _print_to_stderr,
    ) -> T_co:
        """Waits for the end of the task like `watch`, and returns its result or raises the GymnastError that
        ended it. If waiting is interrupted, as by Ctrl-C, the task is cancelled first, and everything that
        it started has ended."""
        try:
            self.watch(on_progress, on_output)
        except BaseException:
            self.cancel()
            self.wait()
            raise
        return self.result()

    # what the runner calls

    def _set_running(self) -> bool:
        """Marks the task as running; returns False if it was cancelled before."""
        with self._changed:
            if self._state != "queued":
                return False
            self._state, self._started = "running", time.time()
            self._changed.notify_all()
            return True

    def _set_wake(self, wake: Callable[[], None]) -> None:
        """Sets the function that `cancel` calls; it must not block."""
        with self._changed:
            self._on_cancel = wake

    def _set_result(self, value: JsonValue) -> None:
        """Ends the task with the JSON form of its result."""
        result = from_json(self._result_type, value)
        with self._changed:
            self._outcome = result
            self._end("done")

    def _set_failure(self, state: TaskState, failure: Failure) -> None:
        with self._changed:
            self._outcome = failure
            self._end(state)

    def _end(self, state: TaskState) -> None:
        self._state, self._ended = state, time.time()
        self._on_cancel = lambda: None
        self._changed.notify_all()

    def _add_progress(self, update: TaskProgress) -> None:
        with self._changed:
            self._updates.append(update)
            self._n_updates += 1
            self._changed.notify_all()

    def _add_output(self, text: str) -> None:
        with self._changed:
            self._log = (self._log + text)[-LOG_CHARS:]
            self._n_chars += len(text)
            self._changed.notify_all()
