"""Typed records as JSON: results are frozen dataclasses, whose JSON schema follows from their types.

`to_json` needs the standard library only, so that listing runs stays fast. `from_json` and `json_schema`
use pydantic, which takes a tenth of a second to import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
LACKING = "a document of an older version may lack this key"
MayLack = Annotated[T, LACKING]
"""The type of a key that every new document has."""
JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
"""A value that JSON can represent."""


def to_json(value: object) -> JsonValue:
    """Returns a record, or a container of records, as JSON values. NaN and infinity, which JSON does not
    have, become the strings "nan", "inf" and "-inf". Raises TypeError for any other kind of object."""
    if isinstance(value, float):
        # float(): NumPy's float64 is a float too, but prints differently
        return float(value) if isfinite(value) else str(float(value))
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(
        value, list | tuple
    ):  # most are long, and asking for the abstract classes takes long
        return [to_json(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_json(getattr(value, name)) for name in _field_names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [to_json(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def from_json(kind: type[T], value: object) -> T:
    """Returns the value of type `kind` from which `to_json` made `value`. Raises pydantic.ValidationError if
    it does not fit the schema."""
    return _adapter(kind).validate_python(value)


def json_schema(kind: type[object]) -> dict[str, JsonValue]:
    """Returns the JSON schema of what `to_json` makes of a type; descriptions come from the docstrings of its
    fields."""
    from gymnast.record_schema import RecordSchema

    return _adapter(kind).json_schema(schema_generator=RecordSchema)


@cache
def _field_names(kind: type[object]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # pyright: ignore[reportArgumentType]


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
