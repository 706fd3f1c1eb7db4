"""The server over standard input and output: a client starts it as its child."""

from __future__ import annotations

import os

import anyio
from mcp.server.stdio import stdio_server

from gymnast.mcp.options import McpOptions
from gymnast.mcp.server import create_server


def serve_stdio(options: McpOptions) -> None:
    """Serves until the client closes the input. Trainings that were started continue."""
    server = create_server(options)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)
    # A thread may still wait for a run or for the input; nothing is left to be said to the client.
    os._exit(0)
