"""Answers of the server: records as JSON, errors with their HTTP status."""

from __future__ import annotations

from starlette.responses import Response

from gymnast.errors import Failure
from gymnast.studio.messages import encode

STATUS = {
    "usage": 400,
    "config": 400,
    "environment": 400,
    "not_installed": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "read_only": 403,
    "code": 403,
    "run": 404,
    "checkpoint": 404,
    "not_found": 404,
    "method": 405,
    "busy": 409,
    "too_large": 413,
    "host": 421,
    "internal": 500,
}
"""Code of an error -> HTTP status; other codes are conflicts with the state of a run or task."""
CONFLICT = 409


def json_answer(value: object, status: int = 200) -> Response:
    """Returns a record, or a container of records, as a JSON response at full precision."""
    return Response(encode(value).encode(errors="replace"), status, media_type="application/json")


def failure_answer(failure: Failure, status: int | None = None) -> Response:
    """Returns an error as a JSON response, by default with the status that belongs to its code."""
    return json_answer(failure, status or STATUS.get(failure.code, CONFLICT))
