"""The documents that gymnast stores: standard JSON that restores every number exactly.

Floats keep all their digits. NaN and infinity, which JSON lacks, are written as {"$float": "nan"}.
Tuples are read back as lists; keys must be strings. NumPy scalars and arrays become plain numbers.

Every stored document is read here. A file may be damaged, or come from somebody else: `parse` compares it
with its type, so that the code which uses it never meets a text in the place of a number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from gymnast.records import LACKING

T = TypeVar("T")
TAG = "$float"
MAX_INTEGER = 1 << 256
"""Largest integer in a document. Those of random generators have 128 bits; one that is larger than any float
would crash whoever computes with it."""


def dumps(value: object, *, indent: int | None = None) -> str:
    return json.dumps(_plain(value), indent=indent, allow_nan=False, ensure_ascii=False)


def loads(text: str | bytes) -> Any:
    """Returns the document of a text, whatever its type. Raises ValueError if it is not JSON."""
    text = text if isinstance(text, str) else text.decode()
    try:
        value = json.loads(
            text,
            # Asking every object takes a third of the time, and hardly any document has one that needs it.
            object_hook=_restore if TAG in text else None,
            parse_int=_whole_number,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if "\\u" in text:  # half of a surrogate pair could neither be printed nor stored
        json.dumps(value, ensure_ascii=False).encode()
    return value


def parse(kind: type[T], text: str | bytes) -> T:
    """Returns the document of a text. Raises ValueError if it is not JSON or not of this type."""
    return checked(kind, loads(text))


def checked(kind: type[T], value: Any) -> T:
    """Returns a document that `loads` read. `kind`: a TypedDict, dict or list of plain values; further keys
    of a TypedDict are allowed. Raises ValueError with the first place that has another type."""
    try:
        _check(kind)(value)
    except _WrongType as error:
        raise ValueError(str(error)) from None
    return value


def _plain(value: Any) -> Any:
    """Returns the value as plain JSON: NaN and infinity become {"$float": ...}, tuples lists, NumPy values
    plain numbers or lists. Raises TypeError for keys that are not strings and for other types."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {TAG: str(value)}
    if isinstance(value, dict):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise TypeError(f"JSON keys must be strings, not {wrong[0]!r}")
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy, without importing it
        return _plain(value.tolist())
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _whole_number(digits: str) -> int:
    value = int(digits)
    if abs(value) > MAX_INTEGER:
        raise ValueError(f"a number has {len(digits)} digits")
    return value


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _restore(found: dict[str, object]) -> object:
    return float(str(found[TAG])) if found.keys() == {TAG} else found


class _WrongType(Exception):
    """A value that has another type than its place in a document."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__()
        self.problem = f"is {_WORDS.get(type(value), 'unknown')} (expected {expected})"
        self.place: list[str] = []
        """Keys and indices that lead to the value, the innermost first."""

    def __str__(self) -> str:
        return f"{'.'.join(reversed(self.place)) or 'it'} {self.problem}"


_WORDS: dict[type, str] = {
    NoneType: "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}
_Check = Callable[[Any], None]


@cache
def _check(kind: Any) -> _Check:
    """Returns a function that raises _WrongType unless a value is of this type."""
    origin = get_origin(kind)
    if kind in (Any, object):
        return lambda _: None
    if origin in (NotRequired, Annotated):
        return _check(get_args(kind)[0])
    if origin in (Union, UnionType):
        return _check_union(get_args(kind))
    if origin is Literal:
        return _check_literal(get_args(kind))
    if is_typeddict(kind):
        return _check_fields(kind)
    if origin is tuple and get_args(kind)[-1] is not ...:
        return _check_tuple([_check(part) for part in get_args(kind)])
    if origin in (list, tuple):
        return _check_items(list, _check(get_args(kind)[0]))
    if origin in (dict, Mapping):
        return _check_items(dict, _check(get_args(kind)[1]))
    return _check_plain(kind)


def _check_plain(*kinds: type) -> _Check:
    # A whole number is a float too, but a boolean is no number.
    allowed = {*kinds, *((int,) if float in kinds else ())}
    words = " or ".join(dict.fromkeys(_WORDS[kind] for kind in kinds))

    def check(value: Any) -> None:
        if type(value) not in allowed:
            raise _WrongType(words, value)

    return check


def _check_union(kinds: tuple[Any, ...]) -> _Check:
    plain = [kind for kind in kinds if kind in _WORDS]
    checks = [_check(kind) for kind in kinds if kind not in _WORDS]
    if plain:  # in one check, which is by far the most frequent case
        checks.insert(0, _check_plain(*plain))
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> None:
        problems: list[_WrongType] = []
        for check_kind in checks:
            try:
                return check_kind(value)
            except _WrongType as error:
                problems.append(error)
        # The type that fits best is the one whose problem is deepest inside of the value.
        raise max(problems, key=lambda error: len(error.place))

    return check


def _check_literal(values: tuple[object, ...]) -> _Check:
    def check(value: Any) -> None:
        if not any(type(value) is type(known) and value == known for known in values):
            raise _WrongType(" or ".join(map(repr, values)), value)

    return check


def _check_items(kind: type, check_item: _Check) -> _Check:
    def check(value: Any) -> None:
        if type(value) is not kind:
            raise _WrongType(_WORDS[kind], value)
        for key, item in value.items() if kind is dict else enumerate(value):
            try:
                check_item(item)
            except _WrongType as error:
                error.place.append(str(key))
                raise

    return check


def _check_tuple(checks: list[_Check]) -> _Check:
    def check(value: Any) -> None:
        if type(value) is not list or len(value) != len(checks):
            raise _WrongType(f"a list of {len(checks)}", value)
        for check_part, part in zip(checks, value, strict=True):
            check_part(part)

    return check


def _check_fields(kind: Any) -> _Check:
    hints = get_type_hints(kind, include_extras=True)
    checks = {name: _check(hint) for name, hint in hints.items()}
    # With postponed annotations, a TypedDict does not know which of its keys are NotRequired.
    required = [
        name
        for name, hint in hints.items()
        if name not in kind.__optional_keys__
        and get_origin(hint) is not NotRequired
        and LACKING not in getattr(hint, "__metadata__", ())
    ]

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise _WrongType(_WORDS[dict], value)
        for name in required:
            if name not in value:
                error = _WrongType("", None)
                error.problem = "is missing"
                error.place.append(name)
                raise error
        for name, item in value.items():
            if name in checks:
                try:
                    checks[name](item)
                except _WrongType as error:
                    error.place.append(name)
                    raise

    return check
