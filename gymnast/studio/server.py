"""Runs the studio's server until Ctrl-C."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import uvicorn

from gymnast.errors import UsageError
from gymnast.studio.app import create_app
from gymnast.studio.options import StudioOptions
from gymnast.studio.security import is_wildcard
from gymnast.studio.streams import Streams

GRACE_SECONDS = 2
"""How long answers that are being sent may take after Ctrl-C."""
PORTS_TO_TRY = 50


def serve(
    options: StudioOptions,
    announce: Callable[[str], object] = print,
    *,
    page: str = "",
    any_port: bool = False,
) -> None:
    """Serves the studio until Ctrl-C. `announce` is called with the link to open, and with a new one each
    time a browser has used it; `page`: the path of the page to which the first link leads; `any_port`: take
    the next free port if the port is in use. Raises UsageError if it cannot listen there."""
    listener = listen(options, any_port=any_port)
    options = replace(options, port=listener.getsockname()[1])
    app = create_app(options, lambda token: announce(link(options, token)))
    config = uvicorn.Config(
        app,
        log_level="critical",  # the app reports its own errors
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=False,
    )
    server = _Server(config, app.state.streams)
    announce(link(options, app.state.sessions.token, page))
    # uvicorn repeats the signal after it has closed everything.
    with suppress(KeyboardInterrupt), listener:
        server.run(sockets=[listener])


def link(options: StudioOptions, token: str, page: str = "") -> str:
    """Returns the address of a page, with a one-time token in its fragment, which browsers do not send."""
    return f"{address(options)}{page}#token={token}"


def address(options: StudioOptions) -> str:
    """Returns the address of the first page, by which a browser on this machine can reach it."""
    host = "127.0.0.1" if is_wildcard(options.host) else options.host
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{options.port}{options.prefix}"


def listen(options: StudioOptions, *, any_port: bool) -> socket.socket:
    """Returns a socket that listens on the address of the options; with `any_port`, on the next free port if
    theirs is in use. Raises UsageError if that is impossible."""
    ports = range(options.port, min(options.port + PORTS_TO_TRY, 65536))
    for port in ports:
        try:
            return _bound(options.host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                problem = f"cannot listen on {options.host} port {port}: {error.strerror}"
                raise UsageError(problem, fix="choose another --host or --port") from None
            if not any_port:
                break
    problem = f"port {options.port} is in use"
    raise UsageError(problem, fix=f"choose another one: --port {_free_port(options)}")


class _Server(uvicorn.Server):
    """Ends the open streams before it waits for connections to close."""

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self._streams = streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.close()
        await super().shutdown(sockets)


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, where = socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def _free_port(options: StudioOptions) -> int:
    """Returns a port after that of the options that is free now; any free one if there is none."""
    for port in (*range(options.port + 1, min(options.port + PORTS_TO_TRY, 65536)), 0):
        with suppress(OSError), _bound(options.host, port) as listener:
            return listener.getsockname()[1]
    return 0
