"""What a process backend and its workers say to each other, beside the memory they share.

A command is one byte, so that a step costs one short message each way. An answer is the length of a
JSON document and the document; mostly there is nothing to report and the length is 0.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

STEP, STEP_CHOSEN, RESET_CHOSEN, ACTIONS = b"s", b"c", b"r", b"a"
"""`ACTIONS` is followed by a document: type and shape of the actions to come."""
NOTHING = struct.pack("<I", 0)


def send(link: socket.socket, document: Any) -> None:
    text = json.dumps(document).encode()
    link.sendall(struct.pack("<I", len(text)) + text)


def receive(link: socket.socket) -> Any:
    """The next document; None where there is nothing to report. EOFError if the other end is gone."""
    length = link.recv(4)
    if length == NOTHING:
        return None
    if len(length) < 4:
        length += _exactly(link, 4 - len(length))
    return json.loads(_exactly(link, struct.unpack("<I", length)[0]))


def _exactly(link: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = link.recv(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
