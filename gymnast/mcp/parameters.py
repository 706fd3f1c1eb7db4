"""The arguments of a tool, from the signature of its function: their JSON schema, and checking a call.

Clients do not always check what their model writes, so that every mistake is found here, with the closest
valid name. A single text is accepted for a list of texts, and a number as text, since models write both.
"""

from __future__ import annotations

import inspect
import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from gymnast.mcp.problem import Problem, ToolError, unknown
from gymnast.records import JsonValue

LARGEST_INTEGER = 2**53
MAX_TEXT = 4000
"""Maximum number of characters of a text."""
MAX_ITEMS = 100
"""Maximum number of items of a list."""
REQUIRED = inspect.Parameter.empty
WORDS = {
    str: "a text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    dict: "an object",
}
"""Type -> the words for it in messages."""
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool."""

    name: str
    kind: type
    """str, int, float, bool, or dict (an object)."""
    is_list: bool
    choices: tuple[str, ...]
    """The accepted texts; empty if any text is."""
    default: object
    """REQUIRED if there is none."""
    doc: str
    """A short explanation; empty if the name says it."""

    @property
    def schema(self) -> dict[str, JsonValue]:
        """The JSON schema, as short as possible."""
        kind: dict[str, JsonValue] = {"type": JSON_TYPES[self.kind]}
        if self.choices:
            kind = {"enum": list(self.choices)}
        schema: dict[str, JsonValue] = {"type": "array", "items": kind} if self.is_list else kind
        return schema | ({"description": self.doc} if self.doc else {})

    def checked(self, value: object, tool: str) -> object:
        """Returns a value of this type. Raises ToolError if it has another one."""
        if value is None and self.default is not REQUIRED:
            return self.default
        if not self.is_list:
            return self._one(value, tool)
        items: object = [value] if isinstance(value, str | int | float) else value
        if not isinstance(items, list):
            self._refuse(tool, value, "a list")
        if len(items) > MAX_ITEMS:
            problem = f"{self.name} has {len(items)} items, and at most {MAX_ITEMS} are accepted"
            raise ToolError(Problem("usage", problem, at=f"{tool}.{self.name}"))
        return [self._one(item, tool) for item in items]

    def _one(self, value: object, tool: str) -> object:
        converted = _CONVERSIONS[self.kind](value)
        if converted is None:
            self._refuse(tool, value, WORDS[self.kind])
        if self.choices and converted not in self.choices:
            fix = f"use one of: {', '.join(self.choices)}"
            problem = f"{self.name} is {_shown(value)}"
            at = f"{tool}.{self.name}"
            raise unknown(str(value), self.choices, problem, at=at, fix=fix)
        return converted

    def _refuse(self, tool: str, value: object, expected: str) -> NoReturn:
        problem = f"{self.name} must be {expected}, not {_shown(value)}"
        raise ToolError(Problem("usage", problem, at=f"{tool}.{self.name}"))


def parameters_of(function: Callable[..., object]) -> tuple[Parameter, ...]:
    """Returns the arguments of a tool's function, without the first one, which is the context."""
    hints = get_type_hints(function, include_extras=True)
    listed = list(inspect.signature(function).parameters.values())[1:]
    return tuple(_parameter(one.name, hints[one.name], one.default) for one in listed)


def input_schema(parameters: Sequence[Parameter]) -> dict[str, JsonValue]:
    """Returns the JSON schema of the arguments of a tool."""
    required: list[JsonValue] = [one.name for one in parameters if one.default is REQUIRED]
    properties: dict[str, JsonValue] = {one.name: one.schema for one in parameters}
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema


def checked_arguments(
    tool: str, parameters: Sequence[Parameter], given: Mapping[str, object]
) -> dict[str, object]:
    """Returns the arguments of a call with their types. Raises ToolError for an unknown one, with the closest
    name, for a missing one, and for a wrong type or value."""
    known = {one.name: one for one in parameters}
    for name in given:
        if name not in known:
            fix = f"its arguments are: {', '.join(known)}"
            raise unknown(name, known, f"unknown argument {name!r}", at=tool, fix=fix)
    missing = [
        one.name for one in parameters if one.default is REQUIRED and given.get(one.name) is None
    ]
    if missing:
        needed = ", ".join(f"{name} ({_expected(known[name])})" for name in missing)
        raise ToolError(Problem("usage", f"missing argument: {needed}", at=tool, fix="pass it"))
    return {name: known[name].checked(value, tool) for name, value in given.items()}


def _parameter(name: str, hint: object, default: object) -> Parameter:
    doc = ""
    if get_origin(hint) is Annotated:
        hint, doc = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(one for one in get_args(hint) if one is not types.NoneType)
    is_list = get_origin(hint) in (Sequence, list)
    if is_list:
        hint = get_args(hint)[0]
    if get_origin(hint) is Literal:
        return Parameter(name, str, is_list, get_args(hint), default, doc)
    kind = dict if get_origin(hint) in (Mapping, dict) else hint
    assert isinstance(kind, type), (name, hint)
    return Parameter(name, kind, is_list, (), default, doc)


def _expected(parameter: Parameter) -> str:
    if parameter.choices:
        return f"one of {', '.join(parameter.choices)}"
    return "a list" if parameter.is_list else WORDS[parameter.kind]


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)
    return text if len(text) <= MAX_TEXT and "\0" not in text else None


def _integer(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


def _number(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    if isinstance(value, bool) or number is None or not math.isfinite(number):
        return None
    return number if abs(number) <= LARGEST_INTEGER else None


def _switch(value: object) -> bool | None:
    return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value))


def _object(value: object) -> dict[str, object] | None:
    if isinstance(value, str):  # some models write the JSON of an object as a text
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return {**value} if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]


_CONVERSIONS: dict[type, Callable[[object], object]] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _switch,
    dict: _object,
}


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"
