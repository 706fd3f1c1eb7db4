"""The web app: its routes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from gymnast.api import READS
from gymnast.errors import Failure
from gymnast.studio.answers import failure_answer, json_answer
from gymnast.studio.front_end import FrontEnd
from gymnast.studio.operations import Exposed, call, exposed, is_started_task, query_arguments
from gymnast.studio.options import StudioOptions
from gymnast.studio.session import Sessions, session_routes, user_secret

MAX_BODY_BYTES = 1_000_000


def _ignore(token: str) -> None: ...


def create_app(options: StudioOptions, announce: Callable[[str], None] = _ignore) -> Starlette:
    """Returns the studio as an ASGI app. `announce` is called with every new one-time token; the first one is
    `app.state.sessions.token`."""
    sessions = Sessions(options, user_secret(), announce)
    front_end = FrontEnd(options)
    api = [
        *session_routes(options, sessions),
        *(_operation_route(operation, options, sessions) for operation in exposed().values()),
        Route("/api/{path:path}", _unknown_operation, methods=["GET", "POST"]),
    ]
    pages = Route("/{path:path}", front_end.respond, methods=["GET"])
    routes = [Mount(options.prefix.rstrip("/"), routes=[*api, pages])]
    app = Starlette(routes=routes)
    app.state.sessions = sessions
    return app


def _operation_route(operation: Exposed, options: StudioOptions, sessions: Sessions) -> Route:
    async def respond(request: Request) -> Response:
        if not sessions.is_signed_in(request):
            return failure_answer(sessions.refusal())
        is_query = request.method != "POST"
        try:
            arguments = (
                query_arguments(operation, request.query_params.multi_items())
                if is_query
                else await _json_body(request)
            )
        except ValueError as error:
            return failure_answer(Failure("usage", str(error), at=operation.operation.name))
        if isinstance(arguments, Failure):
            return failure_answer(arguments)

        def run() -> Response:
            value = call(operation, arguments, options, is_query=is_query)
            if isinstance(value, Failure):
                return failure_answer(value)
            return json_answer(value, 202 if is_started_task(operation, value) else 200)

        return await anyio.to_thread.run_sync(run)

    name = operation.operation.name
    methods = ["GET", "POST"] if operation.operation.effect == READS else ["POST"]
    return Route(f"/api/{name}", respond, methods=methods, name=name)


async def _json_body(request: Request) -> Mapping[str, object] | Failure:
    """Returns the JSON object of the body. Raises ValueError if it is none."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            problem = f"the body has more than {MAX_BODY_BYTES:,} bytes"
            return Failure("too_large", problem, at=request.url.path)
    value = json.loads(body or b"{}")
    if not isinstance(value, dict):
        raise ValueError("the body must be a JSON object")
    return value


async def _unknown_operation(request: Request) -> Response:
    path = request.path_params["path"]
    return failure_answer(
        Failure("not_found", f"there is no operation {path!r}", fix="see /openapi.json")
    )
