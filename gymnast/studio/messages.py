"""Server-sent events as text."""

from __future__ import annotations

import json

from gymnast.records import to_json

KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = b": keep-alive\n\n"
"""A comment, which keeps proxies from closing the connection."""
RETRY = b"retry: 1000\n\n"
"""Browsers reconnect after this many milliseconds."""


def encode(data: object) -> str:
    """Returns a record, or a container of records, as JSON text without line breaks."""
    return json.dumps(to_json(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def message(event: str, text: str, id: object = None) -> bytes:
    """Returns a message. `text`: its data, from `encode`; `id`: the text that a page sends as Last-Event-ID
    when it reconnects."""
    number = "" if id is None else f"id: {id}\n"
    return f"event: {event}\n{number}data: {text}\n\n".encode(errors="replace")
