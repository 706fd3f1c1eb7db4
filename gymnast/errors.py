"""Mistakes a user can mend. The command line prints them as one clear message, never as a traceback."""

from __future__ import annotations


class GymnastError(Exception):
    """Says what is wrong, where, and what to do about it."""

    exit_code = 1

    def __init__(self, message: str, *, at: str = "", fix: str = "") -> None:
        self.message, self.at, self.fix = message, at, fix
        super().__init__(message)

    def __str__(self) -> str:
        where = f"{self.at}: " if self.at else ""
        fix = f"\n  fix: {self.fix}" if self.fix else ""
        return f"{where}{self.message}{fix}"


class UsageError(GymnastError):
    """The command was called wrongly."""

    exit_code = 2


class ConfigError(UsageError):
    """One or more problems in a config, all reported at once."""

    def __init__(self, problems: str | list[str], *, at: str = "", fix: str = "") -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems), at=at, fix=fix)


class EnvError(GymnastError):
    """An environment cannot be made, or broke the contract while it ran."""

    def __init__(self, message: str, *, at: str = "", fix: str = "", traceback: str = "") -> None:
        self.traceback = traceback
        """Of the environment's own code, for the log."""
        super().__init__(message, at=at, fix=fix)


class NotInstalled(EnvError):
    """What an environment needs is not installed."""


class RunError(GymnastError):
    """A run cannot be found, read or written."""


class CheckpointError(RunError):
    """A checkpoint is missing, damaged or of another make."""


class UnknownFormat(CheckpointError):
    """A checkpoint was written by another version of gymnast. It may be intact."""
