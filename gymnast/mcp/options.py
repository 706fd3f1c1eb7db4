"""Options of the MCP server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gymnast.serving.options import ServerOptions, is_wildcard

PORT = 8766
PATH = "/mcp"
"""Path of the server over HTTP."""
MAX_MINUTES = 60.0


@dataclass(frozen=True)
class McpOptions(ServerOptions):
    NAME: ClassVar[str] = "MCP server"
    COMMAND: ClassVar[str] = "gymnast mcp"
    SENDER: ClassVar[str] = "assistant"
    port: int = PORT
    """Port to listen on, over HTTP."""
    max_jobs: int | None = None
    """Maximum number of jobs that train at once; None: GYMNAST_JOBS, or one per core."""
    max_minutes: float = MAX_MINUTES
    """Maximum wall time of training that one call may start or allow, in minutes."""
    text: bool = False
    """Answer with JSON as text, for clients that show only text to their model; without structured content
    and output schemas."""

    @property
    def address(self) -> str:
        """The address by which a client on this machine can reach the server."""
        host = "127.0.0.1" if is_wildcard(self.host) else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}{PATH}"
