"""The messages between a task's owner and its child process: one JSON value per line.

The owner writes one request to the child's standard input and keeps it open; when it is closed, the
owner has ended. The child writes its messages to another pipe, since environments print to its standard
output.
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
