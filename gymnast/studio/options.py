"""Options of the studio's server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gymnast.serving.options import ServerOptions, is_wildcard

BUILT_FILES = Path(__file__).parent / "static"
"""The built front end, as it ships in the package."""


@dataclass(frozen=True)
class StudioOptions(ServerOptions):
    NAME: ClassVar[str] = "studio"
    COMMAND: ClassVar[str] = "gymnast studio"
    SENDER: ClassVar[str] = "studio"
    prefix: str = "/"
    """Path below which everything is served, with a slash at both ends: for a reverse proxy."""
    idle_minutes: float | None = None
    """End after this time without an open page and without an active run; None: never."""
    files: Path = BUILT_FILES
    """The built front end: index.html and assets/."""

    @property
    def address(self) -> str:
        """The address of the first page, by which a browser on this machine can reach it."""
        host = "127.0.0.1" if is_wildcard(self.host) else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}{self.prefix}"


def prefix_path(text: str) -> str:
    """Returns a path prefix with a slash at both ends: `studio` -> `/studio/`."""
    inner = text.strip("/")
    return f"/{inner}/" if inner else "/"
