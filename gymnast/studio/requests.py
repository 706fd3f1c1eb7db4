"""The arguments of a request: the JSON object of its body, or its query string."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NoReturn

from starlette.requests import ClientDisconnect, Request

from gymnast.errors import Failure
from gymnast.records import JsonValue
from gymnast.serving.calls import Exposed

MAX_BODY_BYTES = 1_000_000


class UnusableRequest(Exception):
    """A request whose arguments cannot be read."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


async def json_body(request: Request) -> dict[str, object]:
    """Returns the JSON object of the body; empty without a body. Raises UnusableRequest."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                _refuse(f"the body has more than {MAX_BODY_BYTES:,} bytes", code="too_large")
    except ClientDisconnect:
        _refuse("the connection was closed")
    value = _parse(bytes(body) or b"{}", "the body")
    if not isinstance(value, dict):
        _refuse("the body must be a JSON object", fix='e.g. {"ref": "@last"}')
    return {**value}


def query_arguments(operation: Exposed, query: Sequence[tuple[str, str]]) -> dict[str, object]:
    """Returns the arguments of a query string: a list is a repeated parameter, a mapping is JSON text. Raises
    UnusableRequest if a parameter that is no list is repeated, or JSON text is wrong."""
    found: dict[str, object] = {}
    lists: dict[str, list[str]] = {}
    for name, text in query:
        kinds = _kinds(operation.arguments.get(name))
        if "object" in kinds and text.lstrip().startswith("{"):
            found[name] = _parse(text.encode("utf-8", "replace"), name)
        elif "array" in kinds:
            found[name] = lists.setdefault(name, [])
            lists[name].append(text)
        elif name in found:
            _refuse(f"{name} is given more than once")
        else:
            found[name] = text
    return found


def _parse(text: bytes, where: str) -> JsonValue:
    """Returns the value of JSON text. Raises UnusableRequest for anything that is not valid JSON: NaN and
    lone surrogates, which Python accepts, too."""
    try:
        value = json.loads(text, parse_constant=_not_a_number)
        json.dumps(value, ensure_ascii=False).encode()  # fails for lone surrogates
    except (ValueError, RecursionError) as error:
        _refuse(f"{where} is not JSON: {error}")
    return value


def _not_a_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def _refuse(problem: str, *, fix: str = "", code: str = "usage") -> NoReturn:
    raise UnusableRequest(Failure(code, problem, fix=fix))


def _kinds(schema: JsonValue) -> set[JsonValue]:
    """Returns the JSON types that an argument may have."""
    if not isinstance(schema, dict):
        return set()
    choices = schema.get("anyOf", [schema])
    assert isinstance(choices, list)
    return {str(choice.get("type")) for choice in choices if isinstance(choice, dict)}
