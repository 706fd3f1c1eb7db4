"""Errors that a user can fix. The command line prints them as one message, without a traceback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """An error as a value, for programs."""

    code: str
    """The kind of error: the `code` of its exception class."""
    message: str
    """The problem."""
    at: str = ""
    """The place of the problem: a file, a config key, a run."""
    fix: str = ""
    """The way to fix it."""


class GymnastError(Exception):
    """An error with a message (what is wrong), a place (`at`) and a suggestion (`fix`)."""

    code = "failed"
    """Name of this kind of error, for programs."""
    exit_code = 1

    def __init__(self, message: str, *, at: str = "", fix: str = "") -> None:
        self.message, self.at, self.fix = message, at, fix
        super().__init__(message)

    def __str__(self) -> str:
        where = f"{self.at}: " if self.at else ""
        fix = f"\n  fix: {self.fix}" if self.fix else ""
        return f"{where}{self.message}{fix}"

    def to_failure(self) -> Failure:
        return Failure(self.code, self.message, self.at, self.fix)


class TaskCancelled(GymnastError):
    """A task was cancelled before it had a result."""

    code = "cancelled"
    exit_code = 130


class TaskTimedOut(GymnastError):
    """A task had no result at its deadline."""

    code = "timed_out"


class TaskCrashed(GymnastError):
    """The process of a task ended without a result, by a signal for example."""

    code = "crashed"


class CommandFailed(GymnastError):
    """A program that the user's settings file names was not found, failed or took too long."""

    code = "command"


class InternalError(GymnastError):
    """An exception that nobody expected: a defect of gymnast, or of an environment's code."""

    code = "internal"


class UsageError(GymnastError):
    """Invalid arguments of a command."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """One or more problems in a config, all reported at once."""

    code = "config"

    def __init__(self, problems: str | list[str], *, at: str = "", fix: str = "") -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems), at=at, fix=fix)

    def with_origins(self, origins: Mapping[str, str]) -> ConfigError:
        """Returns the error with `origins` (dotted key -> where its value came from) in place of what its
        problems say."""
        return self


class EnvError(GymnastError):
    """An environment that cannot be created, or that violated the Gymnasium API while it ran."""

    code = "environment"

    def __init__(self, message: str, *, at: str = "", fix: str = "", traceback: str = "") -> None:
        self.traceback = traceback
        """Traceback of the environment's own code, for the log."""
        super().__init__(message, at=at, fix=fix)


class NotInstalled(EnvError):
    """A package that an environment needs is not installed."""

    code = "not_installed"


class RunError(GymnastError):
    """A run cannot be found, read or written."""

    code = "run"


class CheckpointError(RunError):
    """A checkpoint is missing, damaged or does not fit the run."""

    code = "checkpoint"


class UnknownFormat(CheckpointError):
    """A checkpoint was written by another version of gymnast. It may be intact."""

    code = "unknown_format"


class CodeNotAllowed(GymnastError):
    """A run names code to import that the user neither named nor allowed."""

    code = "code"
    exit_code = 2

    def __init__(self, message: str, *, at: str = "", fix: str = "") -> None:
        allow = "if you trust it, allow its code with --allow-code"
        super().__init__(message, at=at, fix=fix or allow)


class HostsMissing(GymnastError):
    """Hosts that collect for a run could not be started, or died again and again. The run can be resumed."""

    code = "hosts"

    def __init__(
        self,
        message: str,
        *,
        at: str = "",
        fix: str = "",
        events: Sequence[tuple[str, dict[str, object]]] = (),
    ) -> None:
        """`events`: what happened to the hosts since the last rollout, as (kind, detail)."""
        super().__init__(message, at=at, fix=fix)
        self.events = tuple(events)


def from_failure(failure: Failure) -> GymnastError:
    """Returns the exception for an error value: of the class that has its code, else a GymnastError with
    that code."""
    kind = _classes(GymnastError).get(failure.code, GymnastError)
    error = kind(failure.message, at=failure.at, fix=failure.fix)
    error.code = failure.code
    return error


def _classes(kind: type[GymnastError]) -> dict[str, type[GymnastError]]:
    """Returns code -> class, of `kind` and its subclasses; if several have the same code, the first one."""
    found = {kind.code: kind}
    for subclass in kind.__subclasses__():
        found = _classes(subclass) | found
    return found
