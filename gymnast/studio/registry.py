"""Finds the running studios of this user: a locked file per runs directory in the state directory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from gymnast.runs import document
from gymnast.runs.lock import is_locked
from gymnast.serving.secret import scope_key, user_secret
from gymnast.settings import state_directory
from gymnast.studio.options import StudioOptions
from gymnast.studio.session import link_token


@dataclass(frozen=True)
class RunningStudio:
    """A studio that serves a runs directory."""

    options: StudioOptions
    server: str
    """Identifies its process in the tokens of links."""

    def link(self, page: str = "") -> str:
        """Returns the address of a page, with a new one-time token."""
        token = link_token(scope_key(self.options, user_secret()), self.server)
        return f"{self.options.address}{page}#token={token}"


@contextmanager
def register(options: StudioOptions, server: str) -> Iterator[None]:
    """Records this process as the studio of its runs directory while inside, unless there is one already.
    The kernel releases the lock with the process."""
    file = _file(options.runs_dir)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # no state directory: others cannot find it
        yield
        return
    try:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            entry = {
                "host": options.host,
                "port": options.port,
                "prefix": options.prefix,
                "read_only": options.read_only,
                "allow_code": options.allow_code,
                "server": server,
            }
            os.ftruncate(handle, 0)
            os.pwrite(handle, document.dumps(entry).encode(), 0)
        yield
    finally:
        os.close(handle)


def find_running(runs_dir: Path) -> RunningStudio | None:
    """Returns the studio that serves a runs directory; None if there is none."""
    file = _file(runs_dir)
    if not is_locked(file):
        return None
    try:
        entry = document.loads(file.read_bytes())
        server = entry.pop("server")
    except (ValueError, KeyError, TypeError, AttributeError):  # it is just starting
        return None
    return RunningStudio(StudioOptions(runs_dir, **entry), server)


def _file(runs_dir: Path) -> Path:
    name = sha256(os.fsencode(runs_dir.resolve())).hexdigest()[:16]
    return state_directory() / "studios" / f"{name}.json"
