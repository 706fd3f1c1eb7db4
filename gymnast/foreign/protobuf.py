"""Reads protobuf messages without their definitions: the fields of a message by their numbers.

Event files and `.wandb` files need only a few fields of a few messages, so that neither TensorBoard nor W&B
must be installed. See https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

Value = int | bytes
"""An integer field; or the bytes of a text, a message, packed values, or a fixed-size number."""
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
"""Wire types."""


class DamagedMessage(ValueError):
    """Bytes that are no protobuf message."""


def fields(message: bytes) -> Iterator[tuple[int, Value]]:
    """Yields number and value of every field in order. Raises DamagedMessage where the bytes are no field."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _LENGTH:
            size, at = _varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise DamagedMessage(f"wire type {kind}")
        if at + size > len(message):
            raise DamagedMessage("a field ends after its message")
        yield number, message[at : at + size]
        at += size


def messages(message: bytes, number: int) -> Iterator[bytes]:
    """Yields the contents of all fields with this number that are messages or texts."""
    return (
        value for found, value in fields(message) if found == number and isinstance(value, bytes)
    )


def text(message: bytes, number: int) -> str:
    """Returns the first text with this field number; empty if there is none."""
    return next(messages(message, number), b"").decode("utf-8", "replace")


def double(value: Value) -> float:
    """Returns the number in a field of type double. Raises DamagedMessage if it has another size."""
    if not isinstance(value, bytes) or len(value) != 8:
        raise DamagedMessage("no double")
    return struct.unpack("<d", value)[0]


def int64(value: Value) -> int:
    """Returns the number in a field of type int64. Raises DamagedMessage if it is none."""
    if not isinstance(value, int):
        raise DamagedMessage("no integer")
    return value - (1 << 64) if value >> 63 else value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Returns the integer at a position, and the position after it."""
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & ((1 << 64) - 1), at
        shift += 7
    raise DamagedMessage("an integer without an end")
