"""The stream of the list of runs: the summaries that changed, as server-sent events."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError
from gymnast.runs import index, store
from gymnast.runs.run import ACTIVE
from gymnast.runs.summary import RunSummary
from gymnast.studio.messages import KEEP_ALIVE, KEEP_ALIVE_SECONDS, encode, message
from gymnast.studio.watch import RECHECK_SECONDS, Watch


@dataclass(frozen=True)
class RunsMessage:
    """Changes of the list of runs."""

    changed: list[RunSummary]
    """The runs that are new or have changed, newest first."""
    removed: list[str]
    """Ids of the runs that were deleted."""
    total: int
    """Number of runs."""
    complete: bool
    """Whether `changed` has all runs: whatever else the page has is to be discarded."""


class RunList:
    """All runs of a directory, each with the revision of the list at which it changed last."""

    def __init__(self, runs_dir: Path) -> None:
        self._runs_dir = runs_dir
        self._stamps: dict[str, index.Stamp] = {}
        self._runs: dict[str, tuple[int, RunSummary]] = {}
        self._removed: dict[str, int] = {}
        self._revision = 0
        self._rechecked = 0.0
        self.nonce = secrets.token_hex(4)
        """Distinguishes the revisions of this list from those of an earlier server."""

    def poll(self) -> int:
        """Reads the runs that have changed, and returns the revision of the list."""
        stamps = index.scan(self._runs_dir)
        if not self._revision:
            self._runs = {Path(run.path).name: (1, run) for run in store.list_runs(self._runs_dir)}
            self._stamps, self._revision = stamps, 1
            return 1
        revision, runs = self._revision + 1, dict(self._runs)
        stale = {name for name, stamp in stamps.items() if self._stamps.get(name) != stamp}
        for name in stale | self._active():
            summary = self._read(name)
            if summary is not None and (name not in runs or runs[name][1] != summary):
                runs[name] = (revision, summary)
        removed = runs.keys() - stamps.keys()
        if removed or any(changed == revision for changed, _ in runs.values()):
            self._revision = revision
        self._removed = self._removed | dict.fromkeys(removed, revision)
        # New objects replace the old ones at once: `changes` is called by another thread.
        self._runs = {name: entry for name, entry in runs.items() if name not in removed}
        self._stamps = stamps
        return self._revision

    def changes(self, since: int | None) -> RunsMessage:
        """Returns what has changed since a revision; everything for None."""
        runs, gone = self._runs, self._removed
        changed = [run for revision, run in runs.values() if since is None or revision > since]
        changed.sort(key=lambda run: (run.created, run.id), reverse=True)
        removed = [
            name
            for name, revision in gone.items()
            if since is not None and revision > since and name not in runs
        ]
        return RunsMessage(changed, removed, len(runs), complete=since is None)

    def _read(self, name: str) -> RunSummary | None:
        try:
            return store.read_summary(self._runs_dir / name)
        except RunError:  # deleted since the scan
            return None

    def _active(self) -> set[str]:
        """Returns the names of the active runs every few seconds: the process of one may have died, which
        changes no file. Otherwise none."""
        now = time.monotonic()
        if now - self._rechecked < RECHECK_SECONDS:
            return set()
        self._rechecked = now
        return {name for name, (_, run) in self._runs.items() if run.status in ACTIVE}


async def runs_messages(
    runs: RunList, watch: Watch[int], last_event_id: str
) -> AsyncIterator[bytes]:
    """Yields messages until the server ends; a comment while nothing happens. `last_event_id`: that of the
    last message that the page has; empty for none."""
    nonce, _, revision = last_event_id.partition("-")
    known = int(revision) if nonce == runs.nonce and revision.isdecimal() else None
    async with watch.listening():
        version = watch.version - 1
        while not watch.closed:
            if not await watch.changed_since(version, KEEP_ALIVE_SECONDS):
                yield KEEP_ALIVE
                continue
            version, present = watch.version, watch.state
            if known != present:
                text = await watch.read(known, lambda since=known: encode(runs.changes(since)))
                yield message("runs", text, f"{runs.nonce}-{present}")
                known = present
