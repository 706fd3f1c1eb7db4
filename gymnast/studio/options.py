"""Options of the studio's server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

BUILT_FILES = Path(__file__).parent / "static"
"""The built front end, as it ships in the package."""


@dataclass(frozen=True)
class StudioOptions:
    runs_dir: Path
    """The runs directory that is served."""
    host: str = "127.0.0.1"
    """Address to listen on. The default accepts connections from this machine only."""
    port: int = 8765
    """Port to listen on."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names, besides loopback names and `host`, by which browsers may address the server: the public
    name of a reverse proxy."""
    prefix: str = "/"
    """Path below which everything is served, with a slash at both ends: for a reverse proxy."""
    read_only: bool = False
    """Refuse every operation that changes something or starts a process."""
    allow_code: bool = False
    """Allow requests that import Python code named in a config (`py:` environments, `policy.module`)."""
    files: Path = BUILT_FILES
    """The built front end: index.html and assets/."""
