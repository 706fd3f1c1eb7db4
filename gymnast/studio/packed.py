"""Records with many numbers in binary: a JSON header, then all floats in one block.

A browser makes typed arrays of the block without parsing or copying it. The layout is

    uint32      length of the header in bytes, little-endian
    header      JSON: the record, with each list of numbers in a series or table as {"$f64": [offset, length]}
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
PACKED_FIELDS = ("series", "table")
"""Names of the fields whose lists of numbers are packed."""
ALIGNMENT = 8


def pack(record: object) -> bytes:
    """Returns a record in binary."""
    block = _Block()
    header = encode(_header(record, block, inside=False)).encode(errors="replace")
    start = struct.pack("<I", len(header)) + header
    padding = b"\0" * (-len(start) % ALIGNMENT)
    return b"".join((start, padding, *block.arrays))


class _Block:
    """The numbers of all lists. A list that several series share is in it once."""

    def __init__(self) -> None:
        self.arrays: list[bytes] = []
        self._length = 0
        self._places: dict[int, JsonValue] = {}
        """Identity of a list -> its place."""

    def place(self, values: np.ndarray | Sequence[object]) -> JsonValue | None:
        """Returns the place of a list of numbers, which is added if it is new; None for other lists."""
        if (known := self._places.get(id(values))) is not None:
            return known
        numbers = _numbers(values)
        if numbers is None:
            return None
        place: JsonValue = {"$f64": [self._length, len(numbers)]}
        self._places[id(values)] = place
        self._length += len(numbers)
        self.arrays.append(numbers.tobytes())
        return place


def _header(value: object, block: _Block, *, inside: bool) -> JsonValue:
    """Returns the JSON form of a value; lists of numbers inside of a series are moved to the block."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {
            str(name): _header(item, block, inside=inside or name in PACKED_FIELDS)  # pyright: ignore[reportUnknownArgumentType]
            for name, item in value.items()  # pyright: ignore[reportUnknownVariableType]
        }
    if not isinstance(value, np.ndarray | Sequence) or isinstance(value, str):
        return to_json(value)
    if inside and (place := block.place(value)) is not None:  # pyright: ignore[reportUnknownArgumentType]
        return place
    if all(isinstance(item, bool | str) for item in value):  # pyright: ignore[reportUnknownVariableType]
        return to_json(value)  # a long column of a table, and has nothing to pack
    return [_header(item, block, inside=inside) for item in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _numbers(values: np.ndarray | Sequence[object]) -> np.ndarray | None:
    """Returns a list of numbers, or an empty one, as an array; None for other lists. A missing value is None,
    and becomes NaN."""
    try:
        found = np.asarray(values)
    except ValueError:  # lists of different lengths
        return None
    is_numeric = found.dtype.kind in "fiu" or (
        found.dtype.kind == "O"
        and all(
            value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            for value in values
        )
    )
    return found.astype("<f8", copy=False) if is_numeric and found.ndim == 1 else None
