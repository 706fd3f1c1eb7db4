"""Values as compact JSON: records without what is empty, numbers with few digits, rows as tables."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from gymnast.records import JsonValue, to_json

DIGITS = 4
"""Significant digits of numbers, unless all are asked for."""
Fields = dict[str, JsonValue]


def compact(value: object, *, full: bool = False) -> JsonValue:
    """Returns a record, or a container of records, as JSON without empty values (None, "", [] and {}), with
    numbers rounded to 4 significant digits unless `full`."""
    return _compact(to_json(value), full)


def fields(record: object, names: Sequence[str]) -> dict[str, object]:
    """Returns these attributes of a record."""
    return {name: getattr(record, name) for name in names}


def table(rows: Iterable[Mapping[str, object]], columns: Sequence[str] = ()) -> dict[str, object]:
    """Returns rows as one list of column names and one list of values per row, which repeats no names. A cell
    is None where a row lacks the column. `columns`: their order; all that occur if empty."""
    listed = list(rows)
    names = list(columns) or list(dict.fromkeys(name for row in listed for name in row))
    return {"columns": names, "rows": [[row.get(name) for name in names] for row in listed]}


def dumps(value: object) -> str:
    """Returns JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def n_bytes(value: object) -> int:
    return len(dumps(value).encode(errors="replace"))


def rounded(number: float, digits: int = DIGITS) -> float:
    """Returns a number with this many significant digits. Whole numbers, such as counts of steps, keep all of
    theirs."""
    if not math.isfinite(number):
        return number
    if number == int(number) and abs(number) < 2**53:
        return int(number)
    shown = float(f"{number:.{digits - 1}e}")
    return shown if math.isfinite(shown) else number  # the largest numbers cannot be rounded up


def moment(seconds: float | None) -> str:
    """Returns a time (seconds since the epoch) as text: 2026-11-18T00:35Z."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%MZ")


def call_text(tool: str, **arguments: object) -> str:
    """Returns a call of a tool as text: `wait(runs=["a"])`."""
    listed = ", ".join(f"{name}={dumps(value)}" for name, value in arguments.items())
    return f"{tool}({listed})"


def _compact(value: JsonValue, full: bool) -> JsonValue:
    if isinstance(value, float):
        return value if full else rounded(value)
    if isinstance(value, list):
        return [_compact(item, full) for item in value]
    if isinstance(value, dict):
        pairs = ((key, _compact(item, full)) for key, item in value.items())
        return {key: item for key, item in pairs if not _is_empty(item)}
    return value


def _is_empty(value: JsonValue) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)
