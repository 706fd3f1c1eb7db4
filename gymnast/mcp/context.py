"""The context of a call: the operations of the API with the checks of a server, tasks, and progress."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from gymnast.api import OPERATIONS, READS, Operation
from gymnast.errors import Failure
from gymnast.mcp.options import McpOptions
from gymnast.mcp.problem import Problem, ToolError, from_failure
from gymnast.serving.calls import Exposed
from gymnast.serving.calls import call as call_operation
from gymnast.tasks import Task, TaskInfo, default_runner

P = ParamSpec("P")
R = TypeVar("R")
Progress = Callable[[float, float | None, str], None]
"""Is called with the progress, its total if known, and a message."""
POLL_SECONDS = 0.25
TASK_SECONDS = 50.0
"""How long a call waits for a task; clients end calls after a minute or more."""


def _ignore(progress: float, total: float | None, message: str) -> None: ...


class ToolContext:
    """One call of a tool."""

    def __init__(
        self,
        options: McpOptions,
        report: Progress = _ignore,
        cancelled: threading.Event | None = None,
    ) -> None:
        self.options = options
        self.report = report
        self.cancelled = cancelled or threading.Event()
        """Is set when the client does not wait for the answer anymore."""

    def ask(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Returns what an operation of `gymnast.api` returns; the runs directory and the sender are those of
        the server. Raises ToolError with the error of the operation, and for what this server refuses."""
        return self._call(function, *args, **kwargs)  # pyright: ignore[reportReturnType]

    def run_task(self, function: Callable[P, Task[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs an operation that is a task, reports its progress, and returns its result. If it takes longer
        than a call should, it is cancelled."""
        info = self._call(function, *args, **kwargs)
        assert isinstance(info, TaskInfo)
        task = cast("Task[R]", default_runner().find(info.id))
        seconds = min(TASK_SECONDS, self.options.max_minutes * 60)
        deadline = time.monotonic() + seconds
        while not task.wait(POLL_SECONDS):
            progress = task.info().progress
            self.report(progress.done, progress.total or None, progress.text or info.title)
            if self.cancelled.is_set() or time.monotonic() > deadline:
                task.cancel()
                task.wait(10.0)
                raise ToolError(
                    Problem(
                        "timed_out",
                        f"{info.title} took more than {seconds:.0f} seconds and was cancelled",
                        fix="ask for less, or use the command line",
                    )
                )
        outcome = task.outcome()
        if isinstance(outcome, Failure):
            raise ToolError(from_failure(outcome))
        return outcome

    def _call(self, function: Callable[..., object], *args: object, **kwargs: object) -> object:
        name = function.__name__
        operation = OPERATIONS.get(name) or Operation(name, READS, _module(function))
        arguments = {**inspect.signature(function).bind_partial(*args).arguments, **kwargs}
        value = call_operation(Exposed(operation), arguments, self.options)
        if isinstance(value, Failure):
            raise ToolError(from_failure(value))
        return value


def _module(function: Callable[..., object]) -> str:
    """Returns the module of `gymnast.api` that defines a function which is not an operation, because it
    returns bytes."""
    return function.__module__.removeprefix("gymnast.api.")
