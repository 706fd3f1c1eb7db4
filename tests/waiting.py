"""Waits for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 120.0
"""Seconds after which something that has not happened will not happen, on a busy machine either."""


def wait_for(
    found: Callable[[], T | None], otherwise: Callable[[], str] = lambda: "it never came"
) -> T:
    """Returns the first true result of a function that is called again and again. If there is none within
    PATIENCE seconds, the test fails with the text that `otherwise` returns."""
    deadline = time.monotonic() + PATIENCE
    while not (result := found()):
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.01)
    return result


def size_of_files(folder: Path) -> int:
    """Returns the bytes in the files of a directory, some of which may be renamed or deleted meanwhile."""
    size = 0
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    return size
