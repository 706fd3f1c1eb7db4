"""The stream of one run: new rows, events, log lines, and its summary, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gymnast import api
from gymnast.api.rows import MetricRows
from gymnast.api.runs import EventPage
from gymnast.errors import RunError, UsageError
from gymnast.jobs.follow import LogPage
from gymnast.runs import layout
from gymnast.runs.store import read_summary
from gymnast.runs.summary import RunSummary
from gymnast.studio.messages import KEEP_ALIVE, KEEP_ALIVE_SECONDS, encode, message
from gymnast.studio.watch import FILES, Stamp, Watch, file_stamps

ROWS_PER_MESSAGE = 500
EVENTS_PER_MESSAGE = 500
LOG_BYTES_PER_MESSAGE = 1 << 16


@dataclass(frozen=True)
class Cursors:
    """The part of a run that a page has. Where it is None, only what is new is sent."""

    rows: int | None = None
    """Position of its last row."""
    attempt: int | None = None
    """The attempt that its rows belong to."""
    events: int | None = None
    """Number of its last event."""
    log: str | None = None
    """Cursor of the log; None if it does not follow the log."""

    def __str__(self) -> str:
        """Returns the text that a page sends back as Last-Event-ID when it reconnects."""
        parts = (self.rows, self.attempt, self.events, self.log)
        return "/".join("-" if part is None else str(part) for part in parts)

    @staticmethod
    def parse(text: str) -> Cursors:
        """Returns the cursors of a Last-Event-ID. Raises UsageError if it is none."""
        rows, attempt, events, log = [*text.split("/", 3), "", "", "", ""][:4]
        numbers = [None if part == "-" else part for part in (rows, attempt, events)]
        if text.count("/") != 3 or not all(n is None or n.isdecimal() for n in numbers):
            fix = "send the id of the last message, or none"
            raise UsageError(f"{text!r} is not an id of this stream", fix=fix)
        row, run_attempt, event = (None if n is None else int(n) for n in numbers)
        return Cursors(row, run_attempt, event, None if log == "-" else log)


class RunStream:
    """The messages for one page."""

    def __init__(self, run_dir: Path, watch: Watch[dict[str, Stamp]], cursors: Cursors) -> None:
        self._ref = str(run_dir.absolute())
        self._watch, self._cursors = watch, cursors
        self._run_dir = run_dir
        self._seen: dict[str, Stamp] = {}
        self._settled: dict[str, bool] = {}
        self._summary: RunSummary | None = None

    async def messages(self) -> AsyncIterator[bytes]:
        """Yields messages until the run is deleted or the server ends; a comment while nothing happens."""
        async with self._watch.listening():
            version = self._watch.version - 1
            while not self._watch.closed:
                if not await self._watch.changed_since(version, KEEP_ALIVE_SECONDS):
                    yield KEEP_ALIVE
                    continue
                version, state = self._watch.version, self._watch.state or {}
                if state[layout.RUN.name] is None and self._summary is not None:
                    yield message("gone", encode({"run": self._run_dir.name}))
                    return
                try:
                    async for text in self._news(state):
                        yield text
                except RunError:  # being created or deleted, which is the next change
                    continue

    async def _news(self, state: dict[str, Stamp]) -> AsyncIterator[bytes]:
        """Yields what the page lacks. Files that did not change are not read."""
        if self._is_due("rows", state):
            async for text in self._rows():
                yield text
        if self._is_due("events", state):
            async for text in self._events():
                yield text
        summary = await self._watch.read("summary", lambda: read_summary(self._run_dir))
        if summary != self._summary:
            self._summary = summary
            yield message("summary", encode(summary), self._cursors)
        if self._cursors.log is not None and self._is_due("log", state):
            async for text in self._log():
                yield text
        self._seen = state

    def _is_due(self, kind: str, state: dict[str, Stamp]) -> bool:
        """Returns whether files have changed, or had changed the last time: they may have changed twice
        within the resolution of their time stamps."""
        changed = any(state[name] != self._seen.get(name, "unknown") for name in FILES[kind])
        is_due = changed or not self._settled.get(kind, False)
        self._settled[kind] = not changed
        return is_due

    async def _rows(self) -> AsyncIterator[bytes]:
        after = self._cursors.rows
        while after is not None:
            page, text = await self._watch.read(("rows", after), partial(self._read_rows, after))
            if self._cursors.attempt and page.attempt != self._cursors.attempt:
                break  # a resume replaced rows
            after = page.cursor
            self._cursors = replace(self._cursors, rows=after, attempt=page.attempt)
            if page.rows:
                yield message("rows", text, self._cursors)
            if not page.has_more:
                return
        # The page reads everything up to now by itself, and gets what is new from here on.
        last = await self._watch.read("last row", lambda: api.rows(self._ref, last=1))
        attempt, self._cursors = (
            self._cursors.attempt,
            replace(self._cursors, rows=last.cursor, attempt=last.attempt),
        )
        if attempt and attempt != last.attempt:
            yield self._reset()

    async def _events(self) -> AsyncIterator[bytes]:
        after = self._cursors.events
        while True:
            key = ("events", after or 0)
            page, text = await self._watch.read(key, partial(self._read_events, after or 0))
            if after is None or page.total < after:
                self._cursors = replace(self._cursors, events=page.total)
                if after is not None:  # a resume has discarded events
                    yield self._reset()
                return
            if not page.events:
                return
            after = page.cursor
            self._cursors = replace(self._cursors, events=after)
            yield message("events", text, self._cursors)

    async def _log(self) -> AsyncIterator[bytes]:
        has_more = True
        while has_more:
            after = self._cursors.log or ""
            page, text = await self._watch.read(("log", after), partial(self._read_log, after))
            self._cursors = replace(self._cursors, log=page.cursor)
            has_more = page.has_more
            if page.lines:
                yield message("log", text, self._cursors)

    def _reset(self) -> bytes:
        return message("reset", encode({"attempt": self._cursors.attempt}), self._cursors)

    def _read_rows(self, after: int) -> tuple[MetricRows, str]:
        page = api.rows(self._ref, after=after, limit=ROWS_PER_MESSAGE)
        data = {"rows": page.rows, "cursor": page.cursor, "attempt": page.attempt}
        return page, encode(data) if page.rows else ""

    def _read_events(self, after: int) -> tuple[EventPage, str]:
        page = api.events(self._ref, after=after, limit=EVENTS_PER_MESSAGE)
        return page, encode({"events": page.events, "cursor": page.cursor})

    def _read_log(self, after: str) -> tuple[LogPage, str]:
        page = api.logs(self._ref, after=after, max_bytes=LOG_BYTES_PER_MESSAGE)
        text = "".join(f"{line}\n" for line in page.lines)
        return page, encode({"text": text, "cursor": page.cursor})


def watch_run(run_dir: Path) -> Watch[dict[str, Stamp]]:
    """Returns a watch of the files of a run."""
    return Watch(lambda: file_stamps(run_dir))
