"""The processes and files of a training that collects on hosts."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from gymnast.processes.local_ray import PREFIX
from tests.e2e.killed_process import GRACE

MODULE = "gymnast.collect.shards.process"
ACTOR = "ray::Host"
"""Beginning of the process title of a host on Ray."""


def descendants(pid: int) -> list[psutil.Process]:
    """Returns all processes that a process has started, directly or not."""
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def host_processes(pid: int) -> list[psutil.Process]:
    """Returns the processes of the hosts of a training process, in the order of their pids."""
    found: list[psutil.Process] = []
    for process in descendants(pid):
        with suppress(psutil.Error):
            words = process.cmdline()
            if MODULE in words or (words and words[0].startswith(ACTOR)):
                found.append(process)
    return sorted(found, key=lambda process: process.pid)


def still_running(processes: Sequence[psutil.Process], grace: float = GRACE) -> list[str]:
    """Returns the names of those processes that still run after `grace` seconds."""
    deadline = time.monotonic() + grace
    while (left := [p for p in processes if _runs(p)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [f"{process.pid}: {_title(process)}" for process in left]


def left_folders(pid: int, grace: float = GRACE) -> list[str]:
    """Returns the folders of a training process's Ray cluster that still exist after `grace` seconds."""
    deadline = time.monotonic() + grace
    while (left := ray_folders(pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def ray_folders(pid: int) -> list[str]:
    """Returns the folders of the Ray clusters that a training process has started."""
    return sorted(map(str, Path(tempfile.gettempdir()).glob(f"{PREFIX}{pid}-*")))


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _title(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())[:120] or process.name()
    return "ended"
