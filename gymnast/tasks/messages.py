"""What a task's owner and its child process send each other: one JSON value per line.

The owner writes one request to the child's standard input and then keeps it open: its end tells the child
that the owner has ended. The child writes messages to a pipe of its own, since environments print to its
standard output.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from gymnast.records import JsonValue


class Request(TypedDict):
    function: str
    """Import path `package.module:name`."""
    arguments: dict[str, JsonValue]
    """Keyword arguments of the function, without `progress`."""
    grace: float
    """Seconds between SIGTERM and SIGKILL, if the owner ends before the task."""


class ProgressMessage(TypedDict):
    kind: Literal["progress"]
    done: int
    total: int
    text: str


class OutcomeMessage(TypedDict):
    kind: Literal["result", "failure"]
    value: JsonValue
    """The record that the function returned, or a Failure."""
