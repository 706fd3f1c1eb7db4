"""The messages between the inspector's pool and its workers: a JSON header, and bytes for pictures.

Requests and answers are two messages each on one connection, which handles their lengths. What an
environment prints goes to standard output and error, never to the connection.
"""

from __future__ import annotations

import json
from multiprocessing.connection import Connection
from typing import Literal, TypedDict, cast

from gymnast.records import JsonValue

IDLE_EXIT, STALE_EXIT = 0, 75
"""Exit codes of a worker that received no request for long, and of one that has imported code which has
changed since. Such a worker has answered nothing, and a new one can."""

WARM, NOT_WARM = "warm", "-"
"""Arguments of the program: whether it imports at its start what opening an episode needs."""


class Request(TypedDict):
    function: str
    """Name of a function of the worker, or its import path `package.module:name`."""
    run: str
    """Path of the run directory."""
    episode: dict[str, JsonValue] | None
    """The EpisodeAddress of the episode; None if the function is about the run."""
    arguments: dict[str, JsonValue]
    """Keyword arguments of the function."""


class Answer(TypedDict):
    kind: Literal["result", "failure"]
    value: JsonValue
    """The record that the function returned, or a Failure."""


def send(connection: Connection, header: Request | Answer, payload: bytes = b"") -> None:
    connection.send_bytes(json.dumps(header, allow_nan=False).encode())
    connection.send_bytes(payload)


def receive_request(connection: Connection) -> Request:
    """Waits for a request. Raises EOFError when the other end is closed."""
    header = connection.recv_bytes()
    connection.recv_bytes()
    return cast("Request", json.loads(header))


def receive_answer(connection: Connection) -> tuple[Answer, bytes]:
    """Waits for an answer and its bytes. Raises EOFError when the other end is closed."""
    return cast("Answer", json.loads(connection.recv_bytes())), connection.recv_bytes()
