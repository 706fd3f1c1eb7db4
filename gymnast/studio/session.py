"""Signing in: a one-time token from the terminal is exchanged for a cookie."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gymnast.errors import Failure
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


class Sessions:
    """One-time tokens, and the signed values that browsers keep as a cookie.

    A value is valid for the runs directory and the rights of the server that issued it, also after the server
    was restarted: it is signed with a secret that only the user can read."""

    def __init__(
        self, options: StudioOptions, secret: bytes, announce: Callable[[str], object]
    ) -> None:
        self._key = hmac.new(secret, _scope(options).encode(), sha256).digest()
        self._announce = announce
        self._prefix = options.prefix
        self.token = secrets.token_urlsafe(32)
        """The token of the current link."""
        self.cookie = f"gymnast-{self._sign('cookie name')[:12]}"
        """Name of the cookie. Browsers share cookies between ports, so that each scope has its own name."""

    def issue(self) -> str:
        """Returns a new signed value."""
        content = f"{int(time.time())}-{secrets.token_urlsafe(16)}"
        return f"{content}.{self._sign(f'session {content}')}"

    def exchange(self, token: str) -> str | None:
        """Returns a signed value for the current one-time token, which becomes invalid, and announces the
        next token; None if it is another token."""
        if not _equal(token, self.token):
            return None
        self.token = secrets.token_urlsafe(32)
        self._announce(self.token)
        return self.issue()

    def is_signed_in(self, request: Request) -> bool:
        """Returns whether a request has a valid cookie, or a valid value or the current token as Bearer."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._is_valid(bearer) or _equal(bearer, self.token)
        return self._is_valid(request.cookies.get(self.cookie, ""))

    def refusal(self) -> Failure:
        return Failure(
            "unauthorized",
            "this browser has not signed in",
            fix="open the link that `gymnast studio` printed in the terminal",
        )

    def sign_in(self, response: Response, value: str) -> None:
        response.set_cookie(
            self.cookie,
            value,
            max_age=MAX_AGE_SECONDS,
            path=self._prefix,
            httponly=True,
            samesite="strict",
        )

    def _is_valid(self, value: str) -> bool:
        content, _, signature = value.partition(".")
        if not _equal(signature, self._sign(f"session {content}")):
            return False
        return time.time() - int(content.partition("-")[0]) < MAX_AGE_SECONDS

    def _sign(self, text: str) -> str:
        return hmac.new(self._key, text.encode(errors="replace"), sha256).hexdigest()


def session_routes(options: StudioOptions, sessions: Sessions) -> list[Route]:
    """Returns the routes of /api/session: who am I, and signing in."""
    number = version("gymnast")

    def info() -> SessionInfo:
        return SessionInfo(
            True, number, options.read_only, options.allow_code, str(options.runs_dir.absolute())
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


def _scope(options: StudioOptions) -> str:
    rights = "read" if options.read_only else "code" if options.allow_code else "change"
    return f"{options.runs_dir.resolve()}\n{rights}"


def _equal(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode(errors="replace"), b.encode(errors="replace"))
