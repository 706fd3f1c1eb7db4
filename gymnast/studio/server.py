"""Runs the studio's server until Ctrl-C."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import uvicorn

from gymnast.jobs import status
from gymnast.runs import store
from gymnast.runs.run import ACTIVE
from gymnast.serving.listening import listen
from gymnast.serving.options import is_loopback
from gymnast.serving.threads import run_in_thread
from gymnast.studio.activity import Activity
from gymnast.studio.app import create_app
from gymnast.studio.options import StudioOptions
from gymnast.studio.registry import register
from gymnast.studio.streams import Streams

GRACE_SECONDS = 2
"""How long answers that are being sent may take after Ctrl-C."""


def serve(
    options: StudioOptions,
    report: Callable[[str], object] = print,
    *,
    page: str = "",
    any_port: bool = False,
    open_browser: bool = False,
) -> None:
    """Serves the studio until Ctrl-C. `report` is called with lines for the user: the link to open, and a new
    one each time a browser has used it; `page`: the path of the page to which the first link leads;
    `any_port`: take the next free port if the port is in use. Raises UsageError if it cannot listen there."""
    listener = listen(options, any_port=any_port)
    port = listener.getsockname()[1]
    if port != options.port:
        report(f"port {options.port} is in use, so the studio uses port {port}")
    options = replace(options, port=port)

    def announce(token: str) -> None:
        report(f"to sign in another browser: {link(options, token)}")

    app = create_app(options, announce)
    config = uvicorn.Config(
        app,
        log_level="critical",  # the app reports its own errors
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=False,
    )
    server = StudioServer(config, options, app.state.streams, app.state.activity)
    first = link(options, app.state.sessions.token, page)
    # uvicorn repeats the signal after it has closed everything.
    with suppress(KeyboardInterrupt), listener, register(options, app.state.sessions.server):
        for line in greeting(options, first):
            report(line)
        if open_browser:
            webbrowser.open(first)
        server.run(sockets=[listener])


def link(options: StudioOptions, token: str, page: str = "") -> str:
    """Returns the address of a page, with a one-time token in its fragment, which browsers do not send."""
    return f"{options.address}{page}#token={token}"


def greeting(options: StudioOptions, first: str) -> list[str]:
    """Returns the lines that are shown at the start. `first`: the first link."""
    rights = " (read-only)" if options.read_only else ""
    lines = [f"studio of {options.runs_dir}{rights}; Ctrl-C ends it", f"  {first}"]
    if not is_loopback(options.host):
        warning = (
            f"warning: what browsers exchange with {options.host} is not encrypted. Use it in a"
        )
        lines.append(
            f"{warning} network that you trust, or use ssh -L {options.port}:localhost:{options.port}"
        )
    return lines


class StudioServer(uvicorn.Server):
    """Ends the open streams before it waits for connections to close, and itself if it is idle for long."""

    def __init__(
        self,
        config: uvicorn.Config,
        options: StudioOptions,
        streams: Streams,
        activity: Activity,
    ) -> None:
        super().__init__(config)
        self._options, self._streams, self._activity = options, streams, activity

    async def on_tick(self, counter: int) -> bool:
        ends = await super().on_tick(counter)
        idle = self._options.idle_minutes
        if idle is not None and self._activity.idle_seconds > idle * 60:
            self._activity.touch()  # the next look is after as long again
            active = await run_in_thread(lambda: has_active_runs(self._options.runs_dir))
            return ends or not active
        return ends

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.close()
        await super().shutdown(sockets)


def has_active_runs(runs_dir: Path) -> bool:
    """Returns whether a run in this directory trains, or waits to."""
    runs = store.list_runs(runs_dir)
    return any(run.status in ACTIVE for run in runs) or bool(status.live_jobs(runs_dir))
