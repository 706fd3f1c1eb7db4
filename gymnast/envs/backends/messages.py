"""The messages between a process backend and its workers, in addition to the memory they share.

A command is one byte, so that a step costs one short message each way. A reply is a JSON document
preceded by its length; usually there is nothing to report and the length is 0.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, TypedDict

from gymnast.envs.env_types import Info

STEP, STEP_CHOSEN, RESET_CHOSEN, ACTIONS = b"s", b"c", b"r", b"a"
"""Commands. `ACTIONS` is followed by a document with the dtype and shape of the following actions."""
EMPTY_REPLY = struct.pack("<I", 0)
"""Reply of length 0: nothing to report."""


class WorkerSpec(TypedDict):
    """The first document that a worker receives: the copies that it has to create."""

    env: dict[str, object]
    """The config section `env`."""
    limit: tuple[int | None, int | None]
    """The fields of `EpisodeLimit`."""
    info_keys: list[str]
    step_keys: list[str]
    part: int
    """Number of this worker, of `parts` in total."""
    parts: int
    copies: tuple[int, int]
    """First copy of this worker, and the first one after its last."""


class EnvInfo(TypedDict):
    """Spaces and limits of the environment, as a worker reports them."""

    obs_space: dict[str, object]
    action_space: dict[str, object]
    described: tuple[str, str]
    """Text of both spaces."""
    time_limit: int | None
    has_default_limit: bool
    elements: int
    """Numbers per action."""


class ActionType(TypedDict):
    """The dtype and shape of the actions in the shared memory."""

    dtype: str
    shape: tuple[int, ...]


class Reply(TypedDict, total=False):
    """The report of a worker."""

    made: EnvInfo
    """Only in the first reply, once the copies are created."""
    refused: list[str]
    """Message and fix of an EnvError; in the first reply also its traceback."""
    faults: list[tuple[int, int, str, str]]
    """Copy, step, message and traceback of each fault."""
    infos: list[tuple[int, Info]]
    """Copies whose episode ended, each with its last info."""


def send(link: socket.socket, document: WorkerSpec | Reply | ActionType) -> None:
    """Sends a document: its length in 4 bytes (little-endian), then the document as JSON."""
    text = json.dumps(document).encode()
    link.sendall(struct.pack("<I", len(text)) + text)


def receive(link: socket.socket) -> Any:
    """Returns the next document, or None for an empty reply. Raises EOFError if the other end has closed."""
    length = link.recv(4)
    if length == EMPTY_REPLY:
        return None
    if len(length) < 4:  # a stream socket may deliver fewer bytes than were asked for
        length += _exactly(link, 4 - len(length))
    return json.loads(_exactly(link, struct.unpack("<I", length)[0]))


def _exactly(link: socket.socket, size: int) -> bytes:
    """Receives exactly `size` bytes. Raises EOFError if the other end closes before."""
    parts: list[bytes] = []
    while size:
        part = link.recv(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
