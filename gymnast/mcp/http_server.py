"""The server over HTTP (streamable HTTP), with the Host and Origin checks of the studio and a token."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from gymnast.errors import Failure
from gymnast.mcp.options import PATH, McpOptions
from gymnast.mcp.server import create_server
from gymnast.records import to_json
from gymnast.serving.hosts import header_refusal
from gymnast.serving.listening import listen
from gymnast.serving.options import is_loopback
from gymnast.serving.secret import scope_key, sign, user_secret

STATUS = {"host": 421, "forbidden": 403, "unauthorized": 401}
"""Code of a refusal -> HTTP status."""
GRACE_SECONDS = 2
"""How long answers that are being sent may take after Ctrl-C."""


def serve_http(
    options: McpOptions, report: Callable[[str], object] = print, *, any_port: bool = False
) -> None:
    """Serves until Ctrl-C; trainings that were started continue. `report` is called with lines for the user;
    `any_port`: take the next free port if the port is in use. Raises UsageError if it cannot listen there."""
    listener = listen(options, any_port=any_port)
    options = replace(options, port=listener.getsockname()[1])
    config = uvicorn.Config(
        create_app(options),
        log_level="critical",  # the server reports its own errors
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=False,
    )
    # uvicorn repeats the signal after it has closed everything.
    with suppress(KeyboardInterrupt), listener:
        for line in greeting(options):
            report(line)
        uvicorn.Server(config).run(sockets=[listener])


def create_app(options: McpOptions) -> ASGIApp:
    """Returns the server as an ASGI app. It keeps no sessions, so that clients survive its restart."""
    app = create_server(options).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        # Our own checks know the names of reverse proxies, and have a token.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, options)


def access_token(options: McpOptions) -> str:
    """Returns the token that clients send. It stays the same for a runs directory and the rights of the
    server, so that a client can be configured once."""
    return sign(scope_key(options, user_secret()), "mcp")


def greeting(options: McpOptions) -> list[str]:
    """Returns the lines that are shown at the start."""
    rights = " (read-only)" if options.read_only else ""
    lines = [
        f"MCP server of {options.runs_dir}{rights}; Ctrl-C ends it",
        f"  address  {options.address}",
        f"  header   Authorization: Bearer {access_token(options)}",
    ]
    if not is_loopback(options.host):
        lines.append(
            f"warning: what clients exchange with {options.host} is not encrypted. Use it in a network "
            f"that you trust, or use ssh -L {options.port}:localhost:{options.port}"
        )
    return lines


class Guard:
    """ASGI middleware: refuses other hosts, pages of other origins, and requests without the token."""

    def __init__(self, app: ASGIApp, options: McpOptions) -> None:
        self._app, self._options = app, options
        self._token = access_token(options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        failure = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        if failure is None:
            await self._app(scope, receive, send)
            return
        headers = {"www-authenticate": "Bearer"} if failure.code == "unauthorized" else None
        answer = JSONResponse(to_json(failure), STATUS[failure.code], headers)
        await answer(scope, receive, send)

    def _refusal(self, headers: Headers) -> Failure | None:
        """Returns why a request is refused; None if it is not."""
        refused = header_refusal(headers, self._options)
        if refused is not None:
            return refused
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip().encode(errors="replace")
        if scheme.lower() == "bearer" and hmac.compare_digest(given, self._token.encode()):
            return None
        fix = f"send the header that `{self._options.COMMAND} --http` printed: Authorization: Bearer TOKEN"
        return Failure("unauthorized", "the token is missing or wrong", fix=fix)
