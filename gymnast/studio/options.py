"""Options of the studio's server."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

BUILT_FILES = Path(__file__).parent / "static"
"""The built front end, as it ships in the package."""

LOOPBACK_NAMES = ("localhost", "ip6-localhost")
WILDCARDS = ("0.0.0.0", "::", "")


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


def is_wildcard(host: str) -> bool:
    """Returns whether an address to listen on stands for all addresses of the machine."""
    return host in WILDCARDS


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can reach an address to listen on."""
    try:
        return host in LOOPBACK_NAMES or ip_address(host).is_loopback
    except ValueError:
        return False


def prefix_path(text: str) -> str:
    """Returns a path prefix with a slash at both ends: `studio` -> `/studio/`."""
    inner = text.strip("/")
    return f"/{inner}/" if inner else "/"
