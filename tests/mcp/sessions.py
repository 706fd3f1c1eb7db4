"""Sessions with the MCP server by the official SDK client: in memory, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from gymnast.mcp.answer import BYTES_PER_TOKEN
from gymnast.mcp.options import McpOptions
from gymnast.mcp.server import create_server

R = TypeVar("R")
COMMAND = [sys.executable, "-m", "gymnast", "mcp"]


def run_in_thread(session: Coroutine[object, object, R]) -> R:
    """Returns what a session returns. It has a thread of its own, because tests of pages leave an event loop
    running in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, session).result()


def in_memory(options: McpOptions, session: Callable[[Client], Awaitable[R]]) -> R:
    """Returns what a session with a server in this process returns."""

    async def run() -> R | MCPError:
        async with Client(create_server(options)) as client:
            try:
                return await session(client)
            except MCPError as error:  # raised in here, it would become a group of exceptions
                return error

    result = run_in_thread(run())
    if isinstance(result, MCPError):
        raise result
    return result


def call(
    options: McpOptions, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any
) -> CallToolResult:
    """Returns the result of one call. `more`: further arguments."""
    given = {**(arguments or {}), **more}
    return in_memory(options, lambda client: client.call_tool(tool, given))


def ask(options: McpOptions, tool: str, **arguments: Any) -> dict[str, Any]:
    """Returns the structured content of one call, which must not fail."""
    result = call(options, tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def failure(options: McpOptions, tool: str, **arguments: Any) -> dict[str, Any]:
    """Returns the error of one call, which must fail."""
    result = call(options, tool, arguments)
    assert result.is_error, result.structured_content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def tokens(value: Any) -> float:
    """Returns the approximate number of tokens of a message, as it is sent; pictures do not count."""
    sent = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    for block in sent.get("content", []):
        if block["type"] == "image":
            block["data"] = ""
    return (
        len(json.dumps(sent, separators=(",", ":"), ensure_ascii=False).encode()) / BYTES_PER_TOKEN
    )


@asynccontextmanager
async def over_stdio(runs_dir: Path, *options: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A client that has started the server as its child."""
    command, *arguments = [*COMMAND, "--runs", str(runs_dir), *options]
    parameters = StdioServerParameters(command=command, args=arguments, env=_environment())
    async with Client(parameters, mode=mode) as client:
        yield client


@contextmanager
def http_server(runs_dir: Path, *options: str) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """A server over HTTP: its address, its token and its process."""
    command = [*COMMAND, "--http", "--runs", str(runs_dir), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        address = re.search(r"http://\S+", lines[1])
        token = re.search(r"Bearer (\S+)", lines[2])
        assert address is not None, lines
        assert token is not None, lines
        yield address[0], token[1], process
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def over_http(address: str, token: str, *, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a server over HTTP."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


def _environment() -> dict[str, str]:
    """Returns the variables of this process that the SDK does not pass on by itself."""
    import os

    return {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("GYMNAST_", "XDG_", "OMP_", "PYTHON", "COVERAGE"))
    }
