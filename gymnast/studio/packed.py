"""Records with many numbers in binary: a JSON header, then all floats in one block.

A browser makes typed arrays of the block without parsing or copying it. The layout is

    uint32      length of the header in bytes, little-endian
    header      JSON: the record, with each list of numbers of a series as {"$f64": [offset, length]}
    padding     zero bytes up to a multiple of 8
    float64...  all lists one after the other, little-endian; NaN where a value is missing

Offsets and lengths count float64 values from the start of the block.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

from gymnast.records import JsonValue, to_json
from gymnast.studio.messages import encode

MEDIA_TYPE = "application/octet-stream"
SERIES = "series"
"""Name of the fields whose lists of numbers are packed."""
ALIGNMENT = 8


def pack(record: object) -> bytes:
    """Returns a record in binary."""
    block: list[np.ndarray] = []
    header = encode(_header(record, block, inside=False)).encode(errors="replace")
    start = struct.pack("<I", len(header)) + header
    padding = b"\0" * (-len(start) % ALIGNMENT)
    return start + padding + b"".join(values.tobytes() for values in block)


def _header(value: object, block: list[np.ndarray], *, inside: bool) -> JsonValue:
    """Returns the JSON form of a value; lists of numbers inside of a series are moved to the block."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {
            str(name): _header(item, block, inside=inside or name == SERIES)  # pyright: ignore[reportUnknownArgumentType]
            for name, item in value.items()  # pyright: ignore[reportUnknownVariableType]
        }
    if inside and isinstance(value, np.ndarray | Sequence) and _is_numeric(value):  # pyright: ignore[reportUnknownArgumentType]
        values = np.asarray(value, dtype="<f8")
        offset = sum(map(len, block))
        block.append(values)
        return {"$f64": [offset, len(values)]}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_header(item, block, inside=inside) for item in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return to_json(value)


def _is_numeric(values: np.ndarray | Sequence[object]) -> bool:
    """Returns whether this is a list of numbers, or empty. A missing value is None."""
    if isinstance(values, np.ndarray):
        return True
    return not isinstance(values, str) and all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in values
    )
