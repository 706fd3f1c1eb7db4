"""Tables of steps as bytes, on their way from a worker to the process that asked.

As JSON, 5,000 steps with 40 columns would take half a second, most of it for checking each number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import TypeVar

import numpy as np

from gymnast.runs.tensors import pack, read_header, unpack

T = TypeVar("T")
Cell = bool | int | float | str | None
Columns = Mapping[str, Sequence[Cell]]
"""Column -> values, one per step."""
FIELD = "table"
"""Name of the field of a record that is sent as bytes."""


def take_table(record: T) -> tuple[T, bytes]:
    """Returns the record with an empty table, and its table as bytes; the record itself and no bytes if it
    has no table."""
    table: Columns | None = getattr(record, FIELD, None) if is_dataclass(record) else None
    if not isinstance(table, Mapping):
        return record, b""
    return replace(record, **{FIELD: {}}), table_to_bytes(table)  # pyright: ignore[reportArgumentType, reportReturnType]


def put_table(record: T, content: bytes) -> T:
    """Returns the record with the table that `take_table` took from it."""
    if not content:
        return record
    return replace(record, **{FIELD: table_from_bytes(content)})  # pyright: ignore[reportArgumentType, reportReturnType]


def table_to_bytes(table: Columns) -> bytes:
    """Returns a table as bytes. Columns of numbers, and of yes or no, become arrays; others stay JSON."""
    arrays: dict[str, np.ndarray] = {}
    others: dict[str, list[Cell]] = {}
    for name, values in table.items():
        column = np.asarray(values)
        if column.dtype.kind in "biuf" and column.ndim == 1:
            arrays[name] = column
        else:
            others[name] = list(values)
    return pack(arrays, {"names": list(table), "others": others})


def table_from_bytes(content: bytes) -> dict[str, list[Cell]]:
    """Returns the table from which `table_to_bytes` made these bytes, its columns in the same order."""
    header, arrays = read_header(content), unpack(content)
    others: dict[str, list[Cell]] = header["others"]
    return {
        name: others[name] if name in others else arrays[name].tolist() for name in header["names"]
    }
