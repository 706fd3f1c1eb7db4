"""The socket on which a server listens."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress

from gymnast.errors import UsageError
from gymnast.serving.options import ServerOptions

PORTS_TO_TRY = 50


def listen(options: ServerOptions, *, any_port: bool) -> socket.socket:
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


def _free_port(options: ServerOptions) -> int:
    """Returns a port after that of the options that is free now; any free one if there is none."""
    for port in (*range(options.port + 1, min(options.port + PORTS_TO_TRY, 65536)), 0):
        with suppress(OSError), _bound(options.host, port) as listener:
            return listener.getsockname()[1]
    return 0
