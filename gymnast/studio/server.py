"""Runs the studio's server until Ctrl-C."""

from __future__ import annotations

import uvicorn

from gymnast.studio.app import create_app
from gymnast.studio.options import StudioOptions


def serve(options: StudioOptions) -> None:
    """Serves the studio and prints its link, until Ctrl-C."""

    def print_link(token: str) -> None:
        print(
            f"studio: http://{options.host}:{options.port}{options.prefix}#token={token}",
            flush=True,
        )

    app = create_app(options, print_link)
    print_link(app.state.sessions.token)
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        lifespan="off",
    )
