"""A journal of the episodes of an evaluation job, so that a new process can continue after a crash.

An environment may kill the process that it runs in. The process that replaces it reads here which episodes
are finished and which were running. It plays the latter alone; one that kills its process again is left out.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from gymnast.runs.trace import Trace


class Journal:
    def __init__(self, file: IO[bytes] | None = None) -> None:
        """Reads the records of earlier processes from `file`. Without a file, nothing is stored."""
        self._file = file
        self.finished: dict[int, Trace] = {}
        """Index of an episode in the plan -> its trace."""
        self.left_out: dict[int, str] = {}
        """Index of an episode -> why it is not played again."""
        self.suspects: list[int] = []
        """Indices of the episodes that were running when a process was lost."""
        self._alone: int | None = None
        """Index of the episode that the lost process was playing alone; None if it played several."""
        if file is not None:
            self._read(file)

    def start(self, index: int, *, alone: bool = False) -> None:
        """Records that an episode starts; `alone` if no other episode runs meanwhile. `index`: its index in
        the plan."""
        self._write("alone" if alone else "start", index, None)

    def finish(self, index: int, trace: Trace) -> None:
        """Records the trace of an episode that has ended."""
        self._write("finish", index, trace)

    def exclude_suspect(self, why: str) -> None:
        """Leaves out the episode that the lost process played alone, if it did."""
        if self._alone is not None:
            self.suspects.remove(self._alone)
            self.left_out[self._alone] = why
            self._write("left out", self._alone, why)
            self._alone = None

    def exclude_unfinished(self, indices: Iterable[int], why: str) -> None:
        """Leaves out every episode of `indices` that is not finished, for the reason `why`. This is not
        stored in the file."""
        self.suspects = []
        for index in indices:
            if index not in self.finished:
                self.left_out.setdefault(index, why)

    def _write(self, kind: str, index: int, result: Trace | str | None) -> None:
        if self._file is not None:
            self._file.write(pickle.dumps((kind, index, result), pickle.HIGHEST_PROTOCOL))
            # survives the end of this process; no fsync, since it need not survive a machine crash
            self._file.flush()

    def _read(self, file: IO[bytes]) -> None:
        """Reads all complete records and truncates the file after them."""
        file.seek(0)
        complete_bytes = 0
        running: dict[int, None] = {}
        while True:
            try:
                kind, index, result = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):  # the writer died while writing this record
                break
            complete_bytes = file.tell()
            # Only the last record counts: anything after an "alone" record means that it survived.
            self._alone = index if kind == "alone" else None
            if kind in ("start", "alone"):
                running[index] = None
                continue
            running.pop(index, None)
            if kind == "finish":
                self.finished[index] = result
            else:
                self.left_out[index] = result
        self.suspects = list(running)
        file.seek(complete_bytes)
        file.truncate()
