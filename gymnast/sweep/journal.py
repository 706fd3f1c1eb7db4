"""The journal of a study: one JSON event per line, on disk before what it announces happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from gymnast.errors import RunError
from gymnast.runs import document, durable, files

VERSION = 1
Event = Mapping[str, Any]


class Journal(Protocol):
    """The events of a study, in order."""

    def append(self, event: Event) -> None:
        """Adds an event; it is stored when this returns."""
        ...

    def events(self) -> Iterator[Event]:
        """Yields every stored event."""
        ...


class MemoryJournal:
    """A journal that ends with the process, for benchmarks and tests."""

    def __init__(self, events: list[Event] | None = None) -> None:
        self._events = [] if events is None else events

    def append(self, event: Event) -> None:
        self._events.append(event)

    def events(self) -> Iterator[Event]:
        return iter([*self._events])


class FileJournal:
    """A journal in a file. A line that a crash cut short is ignored: what it announced has not happened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, event: Event) -> None:
        durable.append(self.path, document.dumps({"v": VERSION, **event}).encode())

    def events(self) -> Iterator[Event]:
        """Yields every stored event. Raises RunError for an event of a newer version."""
        try:
            lines = files.read(self.path, limit=files.MAX_EVENTS).splitlines()
        except FileNotFoundError:
            return
        for number, line in enumerate(lines, 1):
            try:
                event = document.loads(line)
                version = event["v"]
            except (ValueError, KeyError, TypeError):
                continue
            if version != VERSION:
                problem = f"unknown format {version} of an event (this gymnast reads {VERSION})"
                raise RunError(problem, at=f"{self.path}:{number}", fix="update gymnast")
            yield event
