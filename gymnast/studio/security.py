"""Checks of every request, and headers of every answer.

- Host: a web page whose name is made to resolve to this machine (DNS rebinding) is refused.
- Origin and Sec-Fetch-Site: a page of another origin can neither read nor change anything.
- Session: everything but the app's own files, the guide and signing in needs the cookie or a token.
"""

from __future__ import annotations

import socket
import sys
import traceback
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gymnast.errors import Failure
from gymnast.studio.activity import Activity
from gymnast.studio.answers import failure_answer
from gymnast.studio.options import LOOPBACK_NAMES, StudioOptions, is_wildcard
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
        host = request.headers.get("host", "")
        if not is_allowed_host(host, self._options):
            fix = "open the address that `gymnast studio` printed, or restart it with --allow-host NAME"
            return Failure("host", f"{host!r} is not a name of this server", fix=fix)
        path = request.scope["path"].removeprefix(self._options.prefix)
        is_protected = path.split("/")[0] in PROTECTED
        if not self._is_same_origin(request.headers, host, is_page=not is_protected):
            return Failure("forbidden", "requests of pages from other origins are refused")
        if is_protected and path != OPEN and not self._sessions.is_signed_in(request):
            return self._sessions.refusal()
        return None

    def _is_same_origin(self, headers: Headers, host: str, *, is_page: bool) -> bool:
        """Returns whether a request comes from a page of this server, or from no page at all. `is_page`: it
        asks for a page or a file of the app, to which other sites may link."""
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin, host):
            return False
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return True
        return is_page and headers.get("sec-fetch-mode") == "navigate"

    def _is_own(self, origin: str, host: str) -> bool:
        """Returns whether an Origin is that of this server: the address in `host`, or the name of a reverse
        proxy."""
        try:
            parts = urlsplit(origin)
            default = {"http": 80, "https": 443}.get(parts.scheme)
            address = (parts.hostname, parts.port or default)
            own = urlsplit(f"//{host}")
            if address == (own.hostname, own.port or default):
                return True
        except ValueError:
            return False
        return parts.hostname in _names(self._options.allowed_hosts)


def is_allowed_host(host: str, options: StudioOptions) -> bool:
    """Returns whether a Host header, with any port, names this server: a loopback name, its address, or an
    allowed name."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        _ = urlsplit(f"//{host}").port
    except ValueError:
        return False
    name = name.rstrip(".")
    if "@" in host or "/" in host or not name:
        return False
    if name in (*LOOPBACK_NAMES, *_names((options.host, *options.allowed_hosts))):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return is_wildcard(options.host) and name == socket.gethostname().lower()
    # An attacker's page can make a name resolve to this machine, but an address is what it is.
    return address.is_loopback or is_wildcard(options.host)


def _names(hosts: tuple[str, ...]) -> set[str]:
    """Returns host names in lower case, without ports."""
    return {urlsplit(f"//{_bracketed(host)}").hostname or "" for host in hosts} - {""}


def _bracketed(host: str) -> str:
    return f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
