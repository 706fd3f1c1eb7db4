"""Errors of tools as results: what is wrong, where, how to fix it, and the closest valid value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gymnast.errors import Failure
from gymnast.text.suggestions import did_you_mean, suggested


@dataclass(frozen=True)
class Problem:
    code: str
    """The kind of error, as in `gymnast.errors`."""
    message: str
    """The problem."""
    at: str = ""
    """The place of the problem: a tool, an argument, a config key, a run."""
    fix: str = ""
    """The way to fix it."""
    closest: str = ""
    """The closest valid value, if there is a similar one."""

    @property
    def text(self) -> str:
        """The error in one line."""
        where = f"{self.at}: " if self.at else ""
        fix = f" Fix: {self.fix}" if self.fix else ""
        return f"{self.code}: {where}{self.message}{fix}"


class ToolError(Exception):
    """Ends a call with an error that the assistant can act on."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.text)


def unknown(
    word: str, known: Iterable[str], message: str, *, at: str, fix: str, code: str = "usage"
) -> ToolError:
    """Returns the error for a word that is none of the known ones, with the closest of these."""
    suggestion = did_you_mean(word, known, 1)
    return ToolError(Problem(code, f"{message}{suggestion}", at, fix, suggested(suggestion)))


def from_failure(failure: Failure) -> Problem:
    """Returns the error of an operation."""
    closest = suggested(failure.message) or suggested(failure.fix)
    return Problem(failure.code, failure.message, failure.at, failure.fix, closest)
