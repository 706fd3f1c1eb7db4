"""The description of the server for programs (OpenAPI 3.1), made from the types of the API."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from importlib.metadata import version

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gymnast.api import READS, TASK
from gymnast.errors import Failure
from gymnast.runs.events import RunEvent
from gymnast.runs.summary import RunSummary
from gymnast.serving.calls import Exposed
from gymnast.serving.limits import LARGEST_INTEGER, LIMITS
from gymnast.studio import packed
from gymnast.studio.answers import STATUS, json_answer
from gymnast.studio.compression import compressed
from gymnast.studio.episode_frames import FRAMES, MISMATCH_HEADER
from gymnast.studio.files import KINDS
from gymnast.studio.operations import exposed
from gymnast.studio.options import StudioOptions
from gymnast.studio.pages import PAGES, Page
from gymnast.studio.runs_stream import RunsMessage
from gymnast.studio.schemas import Json, collected, schema_of
from gymnast.studio.session import SessionInfo
from gymnast.tasks import TaskInfo

PACKED = ("curves", "inspect", "seed_curves")
"""Operations whose results are also available in binary."""
RUN_STREAM = """Server-sent events of a run; each `id` has all cursors, for Last-Event-ID.
`rows` {"rows", "cursor", "attempt"}; `events` {"events", "cursor"}; `summary`: a RunSummary, when it changed;
`log` {"text", "cursor"} if `log` was given; `reset` {"attempt"} after a resume replaced rows: read everything
again and open a new stream; `gone` when the run was deleted, which ends the stream. Without a cursor, only
what is new is sent."""
RUNS_STREAM = """Server-sent events of the list of runs: `runs` with a RunsMessage. The first one has all
runs, unless Last-Event-ID names what the page has."""


def openapi_route(options: StudioOptions) -> Route:
    """Returns the route of openapi.json."""

    async def respond(request: Request) -> Response:
        return compressed(json_answer(description(options.prefix)), request)

    return Route("/openapi.json", respond, methods=["GET"])


@cache
def description(prefix: str) -> Json:
    """Returns the OpenAPI document of a server with this path prefix."""
    schemas: Json = {}
    paths: Json = {}
    for operation in exposed().values():
        paths[f"/api/{operation.name}"] = _operation(operation, schemas)
    paths |= _session(schemas) | _streams(schemas) | _files() | _frames(schemas)
    for page in PAGES:
        paths[f"/{page.path}"] = {"get": _page(page, schemas)}
    for kind in (RunSummary, RunEvent):
        schema_of(kind, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "gymnast studio", "version": version("gymnast")},
        "servers": [{"url": prefix.rstrip("/") or "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "cookie": {"type": "apiKey", "in": "cookie", "name": "gymnast"},
                "token": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{"cookie": []}, {"token": []}],
    }


def _operation(operation: Exposed, schemas: Json) -> Json:
    """Returns the path of an operation."""
    kind = operation.operation
    text = {"summary": kind.description.split(". ")[0], "description": kind.description}
    content: Json = {"application/json": {"schema": _result(operation, schemas)}}
    status = "202" if kind.effect == TASK else "200"
    body: Json = {"content": {"application/json": {"schema": _arguments(operation)}}}
    responses = _responses(schemas) | {status: {"description": "The result.", "content": content}}
    methods: Json = {
        "post": {
            "operationId": kind.name,
            **text,
            "requestBody": body,
            "responses": responses,
        }
    }
    if kind.effect == READS:
        if operation.name in PACKED:
            binary: Json = {packed.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
            found: Json = {"description": "The result.", "content": content | binary}
            responses = responses | {status: found}
        methods["get"] = {
            "operationId": f"get_{kind.name}",
            **text,
            "parameters": _parameters(operation),
            "responses": responses,
        }
    return methods


def _arguments(operation: Exposed) -> Json:
    """Returns the JSON schema of the arguments, with the limits of numbers."""
    limited: Json = {name: _limited(name, schema) for name, schema in operation.arguments.items()}
    return {**operation.schema, "properties": limited, "additionalProperties": False}


def _limited(name: str, schema: object) -> object:
    """Returns the schema of an argument, with its smallest and largest value if it is a number."""
    if not isinstance(schema, dict):
        return schema
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        return {**schema, "anyOf": [_limited(name, choice) for choice in choices]}
    if schema.get("type") not in ("integer", "number"):
        return schema
    low, high = LIMITS.get(name, (-LARGEST_INTEGER, LARGEST_INTEGER))
    return {**schema, "minimum": low, "maximum": high}


def _parameters(operation: Exposed) -> list[object]:
    """Returns the arguments as parameters of a query: lists are repeated, mappings are JSON text."""
    required = operation.schema.get("required", [])
    found: list[object] = []
    for name, schema in operation.arguments.items():
        limited = _limited(name, schema)
        assert isinstance(limited, dict)
        assert isinstance(required, list)
        choices = limited.get("anyOf", [limited])
        assert isinstance(choices, list)
        given = [c for c in choices if isinstance(c, dict) and c.get("type") != "null"]
        kinds = {choice.get("type") for choice in given}
        parameter: Json = {"name": name, "in": "query", "required": name in required}
        if "object" in kinds:
            mapping = next(choice for choice in given if choice.get("type") == "object")
            parameter["content"] = {"application/json": {"schema": mapping}}
        else:
            parameter["schema"] = given[0] if len(given) == 1 else {"anyOf": [*given]}
        found.append(parameter)
    return found


def _result(operation: Exposed, schemas: Json) -> object:
    """Returns the schema of what an operation answers: the task that it started, or its result."""
    kind = operation.operation
    if kind.effect == TASK:
        return schema_of(TaskInfo, schemas)
    if is_dataclass(kind.result_type):
        return schema_of(kind.result_type, schemas)
    return collected(kind.result_schema(), schemas)


def _page(page: Page, schemas: Json) -> Json:
    """Returns the description of a page, as JSON."""
    content: Json = {
        "application/json": {"schema": _result(exposed()[page.operation], schemas)},
        "text/html": {},
    }
    run: Json = {"name": "run", "in": "path", "required": True, "schema": {"type": "string"}}
    chosen: Json = {"name": "format", "in": "query", "schema": {"enum": ["json"]}}
    return {
        "operationId": f"page_{page.path.replace('/', '_').replace('{run}', 'run') or 'runs'}",
        "summary": f"A page of the app; as JSON, the result of `{page.operation}`.",
        "parameters": [run, chosen] if "{run}" in page.path else [chosen],
        "responses": _responses(schemas)
        | {"200": {"description": "The page.", "content": content}},
    }


def _session(schemas: Json) -> Json:
    found: Json = {
        "description": "The session.",
        "content": {"application/json": {"schema": schema_of(SessionInfo, schemas)}},
    }
    token: Json = {
        "type": "object",
        "properties": {"token": {"type": "string"}},
        "required": ["token"],
        "additionalProperties": False,
    }
    responses = _responses(schemas) | {"200": found}
    return {
        "/api/session": {
            "get": {
                "operationId": "get_session",
                "summary": "Whether this browser has signed in.",
                "security": [],
                "responses": responses,
            },
            "post": {
                "operationId": "sign_in",
                "summary": "Exchanges the token of a link for a cookie.",
                "security": [],
                "requestBody": {"content": {"application/json": {"schema": token}}},
                "responses": responses,
            },
        }
    }


def _streams(schemas: Json) -> Json:
    content: Json = {"text/event-stream": {"schema": {"type": "string"}}}
    responses = _responses(schemas) | {"200": {"description": "Messages.", "content": content}}
    last: Json = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
    run: Json = {"name": "run", "in": "path", "required": True, "schema": {"type": "string"}}
    count: Json = {"type": "integer", "minimum": 0, "maximum": LARGEST_INTEGER}
    schema_of(RunsMessage, schemas)
    cursors: list[object] = [
        {"name": name, "in": "query", "schema": count} for name in ("rows", "attempt", "events")
    ]
    log: Json = {"name": "log", "in": "query", "schema": {"type": "string"}}
    return {
        "/api/stream/runs": {
            "get": {
                "operationId": "stream_runs",
                "description": RUNS_STREAM,
                "parameters": [last],
                "responses": responses,
            }
        },
        "/api/stream/run/{run}": {
            "get": {
                "operationId": "stream_run",
                "description": RUN_STREAM,
                "parameters": [run, *cursors, log, last],
                "responses": responses,
            }
        },
    }


def _files() -> Json:
    content: Json = {kind.partition(";")[0]: {} for kind in KINDS.values()}
    parts: list[object] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in ("run", "path")
    ]
    return {
        "/files/{run}/{path}": {
            "get": {
                "operationId": "file",
                "summary": "A film, a picture or a report of a run; byte ranges are supported.",
                "parameters": parts,
                "responses": {
                    **_responses({}),
                    "200": {"description": "The file.", "content": content},
                    "206": {"description": "A part of the file.", "content": content},
                },
            }
        }
    }


def _frames(schemas: Json) -> Json:
    content: Json = {packed.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
    mismatch: Json = {
        "description": "Number of the first step at which the replay differs; absent if it does not.",
        "schema": {"type": "integer"},
    }
    found: Json = {"description": "The frames.", "content": content}
    responses = _responses(schemas) | {"200": {**found, "headers": {MISMATCH_HEADER: mismatch}}}
    return {
        path: {
            "get": {
                "operationId": function.name,
                "description": function.operation.description,
                "parameters": _parameters(function),
                "responses": responses,
            }
        }
        for path, function in FRAMES.items()
    }


def _responses(schemas: Json) -> Json:
    """Returns status -> response, for all errors."""
    content: Json = {"application/json": {"schema": schema_of(Failure, schemas)}}
    by_status: dict[int, list[str]] = {}
    for code, status in STATUS.items():
        by_status.setdefault(status, []).append(code)
    return {
        str(status): {"description": f"An error: {', '.join(codes)}.", "content": content}
        for status, codes in sorted(by_status.items())
    }
