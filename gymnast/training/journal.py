"""What an evaluation process has done of its job, written down so that the next one need not do it again.

An environment may kill the process that it runs in. Whoever replaces that process reads here which episodes
are finished and which were running, and plays those alone: one that ends its process again is left out.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterable
from typing import IO, Any


class Journal:
    def __init__(self, file: IO[bytes] | None = None) -> None:
        """`file`: records of the processes before, if any. Without one, nothing is kept."""
        self._file = file
        self.finished: dict[Any, Any] = {}
        """Key of an episode -> what came of it."""
        self.left_out: dict[Any, str] = {}
        """Key of an episode -> why it is not played again."""
        self.suspects: list[Any] = []
        """Keys of the episodes that were running when a process was lost."""
        self._alone: Any = None
        if file is not None:
            self._read(file)

    def start(self, key: Hashable, *, alone: bool = False) -> None:
        self._write("alone" if alone else "start", key, None)

    def finish(self, key: Hashable, result: object) -> None:
        self._write("finish", key, result)

    def blame(self, why: str) -> None:
        """The process before this one was lost, and the episode that it played alone is to blame."""
        if self._alone is not None:
            self.suspects.remove(self._alone)
            self.left_out[self._alone] = why
            self._write("left out", self._alone, why)
            self._alone = None

    def abandon(self, keys: Iterable[Hashable], why: str) -> None:
        """Whatever is not finished is not played again."""
        self.suspects = []
        for key in keys:
            if key not in self.finished:
                self.left_out.setdefault(key, why)

    def _write(self, kind: str, key: Any, result: object) -> None:
        if self._file is not None:
            self._file.write(pickle.dumps((kind, key, result), pickle.HIGHEST_PROTOCOL))
            self._file.flush()  # survives this process; the machine need not

    def _read(self, file: IO[bytes]) -> None:
        file.seek(0)
        good = 0
        running: dict[Any, None] = {}
        while True:
            try:
                kind, key, result = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):  # its writer died while writing
                break
            good = file.tell()
            self._alone = key if kind == "alone" else None
            if kind in ("start", "alone"):
                running[key] = None
            else:
                running.pop(key, None)
                {"finish": self.finished, "left out": self.left_out}[kind][key] = result
        self.suspects = list(running)
        file.seek(good)
        file.truncate()
