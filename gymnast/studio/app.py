"""The web app: its routes."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from gymnast.api import READS, TASK
from gymnast.errors import Failure
from gymnast.studio.answers import CONFLICT, failure_answer, json_answer
from gymnast.studio.front_end import FrontEnd
from gymnast.studio.operations import Exposed, call, exposed, is_conflict
from gymnast.studio.options import StudioOptions
from gymnast.studio.requests import UnusableRequest, json_body, query_arguments
from gymnast.studio.secret import user_secret
from gymnast.studio.security import Security
from gymnast.studio.session import Sessions, session_routes
from gymnast.studio.streams import Streams
from gymnast.studio.threads import run_in_thread


def _ignore(token: str) -> None: ...


def create_app(options: StudioOptions, announce: Callable[[str], object] = _ignore) -> Starlette:
    """Returns the studio as an ASGI app. `announce` is called with every new one-time token; the first one is
    `app.state.sessions.token`."""
    sessions = Sessions(options, user_secret(), announce)
    front_end, streams = FrontEnd(options), Streams(options)
    api = [
        *session_routes(options, sessions),
        *streams.routes(),
        *(_operation_route(operation, options) for operation in exposed().values()),
        Route("/api/{path:path}", _unknown_operation, methods=["GET", "POST"]),
    ]
    pages = Route("/{path:path}", front_end.respond, methods=["GET"])
    routes = [Mount(options.prefix.rstrip("/"), routes=[*api, pages])]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Security, options=options, sessions=sessions)],
        exception_handlers={HTTPException: _http_error},
    )
    app.state.sessions, app.state.streams = sessions, streams
    return app


def _operation_route(operation: Exposed, options: StudioOptions) -> Route:
    async def respond(request: Request) -> Response:
        is_query = request.method != "POST"
        try:
            arguments = (
                query_arguments(operation, request.query_params.multi_items())
                if is_query
                else await json_body(request)
            )
        except UnusableRequest as error:
            return failure_answer(error.failure)

        def run() -> Response:
            value = call(operation, arguments, options, is_query=is_query)
            if isinstance(value, Failure):
                conflict = is_conflict(operation, arguments, value, options.runs_dir)
                return failure_answer(value, CONFLICT if conflict else None)
            started = operation.operation.effect == TASK
            return json_answer(value, 202 if started else 200)

        return await run_in_thread(run)

    name = operation.name
    methods = ["GET", "POST"] if operation.operation.effect == READS else ["POST"]
    return Route(f"/api/{name}", respond, methods=methods, name=name)


async def _unknown_operation(request: Request) -> Response:
    path = request.path_params["path"]
    return failure_answer(
        Failure("not_found", f"there is no operation {path!r}", fix="see /openapi.json")
    )


async def _http_error(request: Request, error: Exception) -> Response:
    """Returns an error of the router, for example for a wrong method, as JSON."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method"}.get(error.status_code, "usage")
    problem = Failure(code, f"{request.method} {request.url.path}: {error.detail}")
    response = failure_answer(problem)
    response.headers.update(error.headers or {})
    return response
