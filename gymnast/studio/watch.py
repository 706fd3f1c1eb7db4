"""Watches files of runs and notifies the open pages when they change: one watch per run, for all pages.

Files are polled, because network file systems do not report changes. A poll looks at five files and costs
0.2 ms. Nothing is polled while nobody listens, and nothing is kept for slow pages: each page has its own
cursors, and reads what it lacks after it has taken what it was sent.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from gymnast.runs import layout
from gymnast.serving.threads import run_in_thread

POLL_SECONDS = 0.1
RECHECK_SECONDS = 2.0
"""A run without changes is read again after this time: its process may have died, and a file may have changed
twice within the resolution of its time stamp."""
POLL_SHARE = 0.03
"""Polling takes at most this share of a core: with thousands of runs it becomes slower."""
FILES = {
    "rows": (layout.METRICS.name, f"{layout.METRICS.name}-wal"),
    "events": (layout.EVENTS.name,),
    "summary": (layout.RUN.name,),
    "log": (layout.LOG.name,),
}
"""Part of a run that a page follows -> the files in which it is stored."""

Stamp = tuple[int, int, int] | None
"""Modification time in ns, size and inode of a file; None if it does not exist."""
State = TypeVar("State")
Read = TypeVar("Read")


class Watch(Generic[State]):
    """Polls a state while somebody listens; `version` grows with every change."""

    def __init__(self, poll: Callable[[], State]) -> None:
        """`poll` returns the present state; it is called in a thread."""
        self._poll = poll
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None
        self._change = asyncio.Event()
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}
        self.state: State | None = None
        self.version = 0
        self.closed = False

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Polls while inside; the state is known then."""
        self._listeners += 1
        try:
            if self.state is None:
                self.state = await run_in_thread(self._poll)
            if self._task is None:
                self._task = asyncio.create_task(self._run())
            yield
        finally:
            self._listeners -= 1
            if self._listeners == 0 and self._task is not None:
                self._task.cancel()
                self._task, self.state = None, None
                self._reads.clear()

    @property
    def is_idle(self) -> bool:
        return self._listeners == 0

    async def changed_since(self, version: int, timeout: float) -> bool:
        """Waits until the version differs or `timeout` seconds have passed; returns whether it differs. Does
        not wait when the server closes."""
        if self.version == version and not self.closed:
            try:
                await asyncio.wait_for(self._change.wait(), timeout)
            except TimeoutError:
                return False
        return self.version != version

    async def read(self, key: Hashable, function: Callable[[], Read]) -> Read:
        """Returns the result of a function that runs in a thread. Pages that ask with the same key before the
        next change share one call."""
        task = self._reads.get(key)
        if task is None:
            task = self._reads[key] = asyncio.create_task(run_in_thread(function))
        # A page that leaves must not cancel what others wait for.
        return cast("Read", await asyncio.shield(task))

    def notify(self) -> None:
        """Makes all listeners look again."""
        self.version += 1
        self._reads.clear()
        self._wake()

    def close(self) -> None:
        """Ends the waiting of all listeners, for good."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()

    async def _run(self) -> None:
        pause, looked_again = POLL_SECONDS, time.monotonic()
        while not self.closed:
            await asyncio.sleep(pause)
            before = time.monotonic()
            state = await run_in_thread(self._poll)
            now = time.monotonic()
            pause = max(POLL_SECONDS, (now - before) / POLL_SHARE)
            if state != self.state or now - looked_again > RECHECK_SECONDS:
                self.state, looked_again = state, now
                self.notify()


def file_stamps(run_dir: Path) -> dict[str, Stamp]:
    """Returns file -> its stamp, for the files of a run that pages follow."""
    return {name: _stamp(run_dir / name) for names in FILES.values() for name in names}


def _stamp(file: Path) -> Stamp:
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
