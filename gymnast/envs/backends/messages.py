"""The messages between a process backend and its workers, in addition to the memory they share.

A command is one byte, so that a step costs one short message each way. A reply is a JSON document
preceded by its length; usually there is nothing to report and the length is 0.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

STEP, STEP_CHOSEN, RESET_CHOSEN, ACTIONS = b"s", b"c", b"r", b"a"
"""Commands. `ACTIONS` is followed by a document with the dtype and shape of the following actions."""
EMPTY_REPLY = struct.pack("<I", 0)
"""Reply of length 0: nothing to report."""


def send(link: socket.socket, document: Any) -> None:
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
