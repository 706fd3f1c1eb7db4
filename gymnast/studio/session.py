"""Signing in: a one-time token from the terminal is exchanged for a cookie."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gymnast.clock import DEFAULT_CLOCK, ClockName
from gymnast.errors import Failure, GymnastError
from gymnast.serving.secret import scope_key, sign
from gymnast.settings import view_clock
from gymnast.studio.answers import failure_answer, json_answer
from gymnast.studio.options import StudioOptions
from gymnast.studio.requests import UnusableRequest, json_body

MAX_AGE_SECONDS = 90 * 24 * 3600
"""How long a browser stays signed in."""


@dataclass(frozen=True)
class SessionInfo:
    """The server, as far as a page needs to know it."""

    signed_in: bool
    """Whether this browser has signed in."""
    version: str
    """Version of gymnast."""
    read_only: bool = False
    """Whether operations that change something are refused; False if not signed in."""
    allow_code: bool = False
    """Whether `py:` environments and `policy.module` may be used; False if not signed in."""
    runs_dir: str = ""
    """The runs directory; empty if not signed in."""
    clock: ClockName = DEFAULT_CLOCK
    """The clock of every view, from the settings file; the default if not signed in."""


class Sessions:
    """One-time tokens of links, and the signed values that browsers keep as a cookie.

    Both are signed with a secret that only the user can read. A value is valid for the runs directory and the
    rights of the server that issued it, also after the server was restarted. A token is valid once, for one
    process of the server."""

    def __init__(
        self, options: StudioOptions, secret: bytes, announce: Callable[[str], object]
    ) -> None:
        self._key = scope_key(options, secret)
        self._announce = announce
        self._prefix = options.prefix
        self._used: set[str] = set()
        self.server = secrets.token_hex(8)
        """Identifies this process of the server."""
        self.token = link_token(self._key, self.server)
        """The token of the current link."""
        self.cookie = f"gymnast-{sign(self._key, 'cookie name')[:12]}"
        """Name of the cookie. Browsers share cookies between ports, so that each scope has its own name."""

    def issue(self) -> str:
        """Returns a new signed value."""
        return _signed(self._key, "session")

    def exchange(self, token: str) -> str | None:
        """Returns a signed value for a one-time token, which becomes invalid; None if it is not valid. If it
        was the token of the current link, the next one is announced."""
        if not self._is_unused(token):
            return None
        self._used.add(token)
        if token == self.token:
            self.token = link_token(self._key, self.server)
            self._announce(self.token)
        return self.issue()

    def is_signed_in(self, request: Request) -> bool:
        """Returns whether a request has a valid cookie, or a valid value or an unused token as Bearer."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._is_session(bearer) or self._is_unused(bearer)
        return self._is_session(request.cookies.get(self.cookie, ""))

    def refusal(self) -> Failure:
        return Failure(
            "unauthorized",
            "this browser has not signed in",
            fix="open the link that `gymnast studio` printed in the terminal",
        )

    def sign_in(self, response: Response, value: str) -> None:
        """Stores a signed value in the browser."""
        response.set_cookie(
            self.cookie,
            value,
            max_age=MAX_AGE_SECONDS,
            path=self._prefix,
            httponly=True,
            samesite="strict",
        )

    def _is_session(self, value: str) -> bool:
        return _is_valid(self._key, "session", value)

    def _is_unused(self, token: str) -> bool:
        return _is_valid(self._key, f"link {self.server}", token) and token not in self._used


def _default_clock() -> ClockName:
    with suppress(GymnastError):  # the views report a mistake in the settings file
        return view_clock()
    return DEFAULT_CLOCK


def session_routes(options: StudioOptions, sessions: Sessions) -> list[Route]:
    """Returns the routes of /api/session: who am I, and signing in."""
    number = version("gymnast")

    def info() -> SessionInfo:
        return SessionInfo(
            signed_in=True,
            version=number,
            read_only=options.read_only,
            allow_code=options.allow_code,
            runs_dir=str(options.runs_dir.absolute()),
            clock=_default_clock(),
        )

    async def read(request: Request) -> Response:
        return json_answer(info() if sessions.is_signed_in(request) else SessionInfo(False, number))

    async def sign_in(request: Request) -> Response:
        try:
            body = await json_body(request)
        except UnusableRequest as error:
            return failure_answer(error.failure)
        token = body.get("token")
        if body.keys() != {"token"} or not isinstance(token, str):
            return failure_answer(Failure("usage", 'the body must be {"token": "..."}'))
        value = sessions.exchange(token)
        if value is None:
            return failure_answer(
                Failure(
                    "unauthorized",
                    "this link was used before, or belongs to another server",
                    fix="open the newest link in the terminal of `gymnast studio`",
                )
            )
        response = json_answer(info())
        sessions.sign_in(response, value)
        return response

    return [
        Route("/api/session", read, methods=["GET"]),
        Route("/api/session", sign_in, methods=["POST"]),
    ]


def link_token(key: bytes, server: str) -> str:
    """Returns a new one-time token for a process of the server."""
    return _signed(key, f"link {server}")


def _signed(key: bytes, purpose: str) -> str:
    content = f"{int(time.time())}-{secrets.token_urlsafe(16)}"
    return f"{content}.{sign(key, f'{purpose} {content}')}"


def _is_valid(key: bytes, purpose: str, value: str) -> bool:
    """Returns whether a value was signed for this purpose, not too long ago."""
    content, _, signature = value.partition(".")
    expected = sign(key, f"{purpose} {content}")
    if not hmac.compare_digest(signature.encode(errors="replace"), expected.encode()):
        return False
    return time.time() - int(content.partition("-")[0]) < MAX_AGE_SECONDS
