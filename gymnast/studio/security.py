"""Checks of every request, and headers of every answer.

- Host and Origin: as of every server (`gymnast.serving.hosts`).
- Session: everything but the app's own files, the guide and signing in needs the cookie or a token.
"""

from __future__ import annotations

import sys
import traceback

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gymnast.errors import Failure
from gymnast.serving.hosts import header_refusal
from gymnast.studio.activity import Activity
from gymnast.studio.answers import failure_answer
from gymnast.studio.options import StudioOptions
from gymnast.studio.session import Sessions

PROTECTED = ("api", "files", "openapi.json")
"""First parts of the paths that need a session; `api/session` does not."""
OPEN = "api/session"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self'; connect-src 'self'; font-src 'self'; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer, unless it has its own."""


class Security:
    """ASGI middleware. It also turns unexpected exceptions into answers with status 500."""

    def __init__(
        self, app: ASGIApp, options: StudioOptions, sessions: Sessions, activity: Activity
    ) -> None:
        self._app, self._options, self._sessions = app, options, sessions
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._activity.request():
            await self._respond(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        failure = self._refusal(Request(scope))
        if failure is not None:
            await failure_answer(failure)(scope, receive, send_with_headers)
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            if started:
                raise
            failure = Failure("internal", f"{type(error).__name__}: {error}", at=scope["path"])
            await failure_answer(failure)(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Failure | None:
        """Returns why a request is refused; None if it is not."""
        path = request.scope["path"].removeprefix(self._options.prefix)
        is_protected = path.split("/")[0] in PROTECTED
        refused = header_refusal(request.headers, self._options, is_page=not is_protected)
        if refused is not None:
            return refused
        if is_protected and path != OPEN and not self._sessions.is_signed_in(request):
            return self._sessions.refusal()
        return None
