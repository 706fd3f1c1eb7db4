"""Reads what a field of a config section accepts from its annotation: kind, words, bounds, schedules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

from gymnast.config.applies import Applies
from gymnast.config.numbers import Maybe, Share, parse_count, parse_whole
from gymnast.config.parsed_value import ParsedValue
from gymnast.config.plain_value import PlainValue
from gymnast.config.schedule import Schedule
from gymnast.config.section import SECTION_DEFAULT, Section

Kind = Literal["number", "integer", "text", "choice", "switch", "list", "mapping"]
_BOUNDS = ("ge", "gt", "le", "lt")
"""Attributes of pydantic's bounds."""
_LOWEST: Mapping[object, float] = {parse_count: 1.0, parse_whole: 0.0}
"""Function that parses a number -> the lowest one that it accepts."""
_MAYBE = get_args(Maybe)[1]
"""Marks the fields that can be `off`."""


@dataclass(frozen=True)
class FieldSpec:
    kind: Kind
    doc: str
    default: PlainValue
    """The default as a plain value; None if there is none."""
    choices: tuple[str, ...]
    """The accepted words."""
    schedulable: bool
    low: float | None
    high: float | None
    applies: tuple[Applies, ...]
    """The conditions under which the field has an effect."""

    def entry(self, kind: Kind) -> FieldSpec:
        """Returns the spec of an entry of this mapping, whose values have no declared type."""
        return replace(self, kind=kind, default=None, choices=(), schedulable=False)


@cache
def section_specs(section: type[Section]) -> dict[str, FieldSpec]:
    """Returns field -> what it accepts, for the fields of a section, sections inside of it included."""
    docs = {name: " ".join(doc.split()) for name, doc in section.field_docs().items()}
    return {name: _spec(field, docs.get(name, "")) for name, field in section.model_fields.items()}


def kind_of_value(value: PlainValue) -> Kind:
    """Returns the kind of a value whose type is not declared, such as a keyword argument."""
    if isinstance(value, bool):
        return "switch"
    if isinstance(value, Mapping):
        return "mapping"
    if isinstance(value, list):
        return "list"
    return "integer" if isinstance(value, int) else "number" if isinstance(value, float) else "text"


def _spec(field: FieldInfo, doc: str) -> FieldSpec:
    types = list(_types(field.annotation))
    marks = [*field.metadata, *_marks(field.annotation)]
    kind, words = _kind(types), [word for kind in types for word in _words(kind)]
    if any(mark is _MAYBE for mark in marks):
        words.append("off")
    if field.default == "auto":
        words.append("auto")
    low, high = _bounds(types, marks)
    is_number = kind in ("number", "integer")
    return FieldSpec(
        kind=kind,
        doc=doc,
        default=_plain_default(field),
        choices=tuple(dict.fromkeys(words)),
        schedulable=Schedule in types,
        low=low if is_number else None,
        high=high if is_number else None,
        applies=tuple(mark for mark in field.metadata if isinstance(mark, Applies)),
    )


def _kind(types: list[Any]) -> Kind:
    """Returns the kind of a field that accepts values of these types."""
    plain = [kind for kind in types if kind is not Schedule]
    names = [kind for kind in plain if get_origin(kind) is not Literal]
    if not names:
        return "choice" if plain else "number"
    outer = {get_origin(kind) or kind for kind in names}
    if outer == {dict}:
        return "mapping"
    if outer == {tuple}:
        return "list"
    if outer == {bool}:
        return "switch"
    if outer == {int}:
        return "integer"
    return "number" if outer <= {int, float, Share} else "text"


def _words(kind: Any) -> list[str]:
    if kind is bool:
        return ["on", "off"]
    return [str(word) for word in get_args(kind)] if get_origin(kind) is Literal else []


def _bounds(types: list[Any], marks: list[Any]) -> tuple[float | None, float | None]:
    """Returns the bounds that all of `marks` together set."""
    given = {
        name: [getattr(mark, name) for mark in marks if hasattr(mark, name)] for name in _BOUNDS
    }
    parsers = [mark.func for mark in marks if isinstance(mark, BeforeValidator)]
    lows = [*given["ge"], *given["gt"], *(_LOWEST[one] for one in parsers if one in _LOWEST)]
    highs = [*given["le"], *given["lt"]]
    if types == [Share]:
        lows, highs = [*lows, 0], [*highs, 1]
    return max(map(float, lows), default=None), min(map(float, highs), default=None)


def _types(annotation: Any) -> Iterator[Any]:
    """Yields the types of a union, without None and what annotates them."""
    if get_origin(annotation) is Annotated:
        yield from _types(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for one in get_args(annotation):
            yield from _types(one)
    elif annotation is not NoneType:
        yield annotation


def _marks(annotation: Any) -> Iterator[Any]:
    """Yields what annotates the types of a union, but not the items of a list or mapping."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        for mark in marks:
            yield from mark.metadata if isinstance(mark, FieldInfo) else (mark,)
        yield from _marks(inner)
    elif get_origin(annotation) in (Union, UnionType):
        for one in get_args(annotation):
            yield from _marks(one)


def _plain_default(field: FieldInfo) -> PlainValue:
    """Returns the default of a field as a plain value; None if it is required, or a section."""
    return (
        None if field.is_required() or field.default is SECTION_DEFAULT else _plain(field.default)
    )


def _plain(value: Any) -> PlainValue:
    """Returns a default value as `to_plain` writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, ParsedValue):
        return value.to_plain()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
