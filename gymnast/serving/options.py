"""Options that every server has."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar

LOOPBACK_NAMES = ("localhost", "ip6-localhost")
WILDCARDS = ("0.0.0.0", "::", "")


@dataclass(frozen=True)
class ServerOptions:
    NAME: ClassVar[str] = "server"
    """The word for this server in messages."""
    COMMAND: ClassVar[str] = "gymnast"
    """The command that starts it."""
    SENDER: ClassVar[str] = "server"
    """The sender of its commands to runs, in their events."""
    runs_dir: Path
    """The runs directory that is served."""
    host: str = "127.0.0.1"
    """Address to listen on. The default accepts connections from this machine only."""
    port: int = 8765
    """Port to listen on."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names, besides loopback names and `host`, by which clients may address the server: the public
    name of a reverse proxy."""
    read_only: bool = False
    """Refuse every operation that changes something or starts a process."""
    allow_code: bool = False
    """Allow requests that import Python code named in a config (`py:` environments, `policy.module`)."""


def is_wildcard(host: str) -> bool:
    """Returns whether an address to listen on stands for all addresses of the machine."""
    return host in WILDCARDS


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can reach an address to listen on."""
    try:
        return host in LOOPBACK_NAMES or ip_address(host).is_loopback
    except ValueError:
        return False
