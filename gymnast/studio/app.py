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
from gymnast.serving.calls import Exposed, call, is_conflict
from gymnast.serving.secret import user_secret
from gymnast.serving.threads import run_in_thread
from gymnast.studio import packed
from gymnast.studio.activity import Activity
from gymnast.studio.answers import CONFLICT, failure_answer, json_answer
from gymnast.studio.compression import compressed
from gymnast.studio.episode_frames import frames_routes, warm_inspector
from gymnast.studio.files import file_routes
from gymnast.studio.front_end import FrontEnd
from gymnast.studio.guide import guide_routes
from gymnast.studio.openapi import PACKED, openapi_route
from gymnast.studio.operations import exposed
from gymnast.studio.options import StudioOptions
from gymnast.studio.pages import find_page, page_call, wants_json
from gymnast.studio.requests import UnusableRequest, json_body, query_arguments
from gymnast.studio.security import Security
from gymnast.studio.session import Sessions, session_routes
from gymnast.studio.streams import Streams
from gymnast.text.suggestions import did_you_mean


def _ignore(token: str) -> None: ...


def create_app(options: StudioOptions, announce: Callable[[str], object] = _ignore) -> Starlette:
    """Returns the studio as an ASGI app. `announce` is called with every new one-time token; the first one is
    `app.state.sessions.token`."""
    sessions, streams = Sessions(options, user_secret(), announce), Streams(options)
    front_end, activity = FrontEnd(options), Activity()

    async def page(request: Request) -> Response:
        found = find_page(request.path_params["path"])
        if found is None or not wants_json(request):
            return await run_in_thread(lambda: front_end.respond(request))
        if not sessions.is_signed_in(request):
            return failure_answer(sessions.refusal())
        return await respond(request, lambda: page_call(*found, request), options)

    routes = [
        *session_routes(options, sessions),
        *streams.routes(),
        *(_operation_route(operation, options) for operation in exposed().values()),
        *frames_routes(options),
        Route("/api/{path:path}", _unknown_operation, methods=["GET", "POST"]),
        openapi_route(options),
        *file_routes(options),
        *guide_routes(options),
        Route("/{path:path}", page, methods=["GET"]),
    ]
    app = Starlette(
        routes=[Mount(options.prefix.rstrip("/"), routes=routes)],
        middleware=[Middleware(Security, options=options, sessions=sessions, activity=activity)],
        exception_handlers={HTTPException: _http_error},
    )
    app.state.sessions, app.state.streams, app.state.activity = sessions, streams, activity
    return app


def _operation_route(operation: Exposed, options: StudioOptions) -> Route:
    """Returns the route of an operation: GET if it only reads, POST for all."""

    async def endpoint(request: Request) -> Response:
        if request.method != "POST":
            query = request.query_params.multi_items()
            return await respond(
                request, lambda: (operation, query_arguments(operation, query)), options
            )
        try:
            body = await json_body(request)
        except UnusableRequest as error:
            return failure_answer(error.failure)
        return await respond(request, lambda: (operation, body), options)

    name = operation.name
    methods = ["GET", "POST"] if operation.operation.effect == READS else ["POST"]
    return Route(f"/api/{name}", endpoint, methods=methods, name=name)


async def respond(
    request: Request,
    find_call: Callable[[], tuple[Exposed, dict[str, object]]],
    options: StudioOptions,
) -> Response:
    """Returns the answer to a call of an operation, which runs in a thread. `find_call` returns the operation
    and its arguments."""
    is_query = request.method != "POST"
    is_packed = packed.MEDIA_TYPE in request.headers.get("accept", "")

    def run() -> Response:
        try:
            operation, arguments = find_call()
        except UnusableRequest as error:
            return failure_answer(error.failure)
        value = call(operation, arguments, options, is_query=is_query)
        if isinstance(value, Failure):
            conflict = is_conflict(operation, arguments, value, options.runs_dir)
            return failure_answer(value, CONFLICT if conflict else None)
        warm_inspector(value, options)
        if is_packed and operation.name in PACKED:
            return Response(packed.pack(value), media_type=packed.MEDIA_TYPE)
        started = operation.operation.effect == TASK
        return compressed(json_answer(value, 202 if started else 200), request)

    return await run_in_thread(run)


async def _unknown_operation(request: Request) -> Response:
    path = request.path_params["path"]
    if path in exposed():
        response = failure_answer(Failure("method", f"{path} needs POST", at=path))
        response.headers["allow"] = "POST"
        return response
    problem = f"there is no operation {path!r}{did_you_mean(path, exposed())}"
    return failure_answer(Failure("not_found", problem, fix="see openapi.json"))


async def _http_error(request: Request, error: Exception) -> Response:
    """Returns an error of the router, for example for a wrong method, as JSON."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method"}.get(error.status_code, "usage")
    problem = Failure(code, f"{request.method} {request.url.path}: {error.detail}")
    response = failure_answer(problem)
    response.headers.update(error.headers or {})
    return response
