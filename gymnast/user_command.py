"""Runs a program of the user: a text on its standard input, its answer from its standard output."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from gymnast.errors import CommandFailed
from gymnast.settings import UserCommand
from gymnast.text.formatting import count_noun
from gymnast.text.plain import plain_text

MAX_ANSWER_BYTES = 400_000
"""Size of the longest answer. A command that prints more is ended, and the rest is cut."""
MAX_ERROR_BYTES = 20_000
ERROR_LINES = 8
"""Number of the last lines of standard error in the message about a command that failed."""
_READ_BYTES = 65_536
_LEFTOVER_SECONDS = 1.0
"""Time to wait for output after the command has ended: a process that it left running may keep it open."""


@dataclass(frozen=True)
class Answer:
    """The answer of a command."""

    text: str
    """Plain text, without control characters."""
    cut: str
    """A sentence about what is missing; empty if it is complete."""


def run_command(
    name: str,
    command: UserCommand,
    text: str,
    folder: Path,
    *,
    kind: str = "review",
    place: str = "in the settings file",
    may_be_silent: bool = False,
) -> Answer:
    """Runs a command in `folder` with a text on its standard input, and returns its answer. `name`: its name
    in the settings file, `kind`: its section there, and `place`: where it is named, for messages. Raises
    CommandFailed if the program is not found, fails, takes longer than its timeout, or answers nothing,
    unless it `may_be_silent`."""
    words = command.words()
    if (program := shutil.which(words[0])) is None:
        problem = f"the program {words[0]!r} of the {kind} command {name!r} was not found"
        raise CommandFailed(problem, fix=f"install it, or correct its path {place}")
    try:
        process = subprocess.Popen(
            [program, *words[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
    except OSError as error:
        problem = f"the {kind} command {name!r} cannot be started: {error.strerror}"
        raise CommandFailed(problem, fix=f"correct it {place}") from error
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    output = _Reader(process.stdout.fileno(), MAX_ANSWER_BYTES, on_full=process.kill)
    errors = _Reader(process.stderr.fileno(), MAX_ERROR_BYTES)
    stdin, data = cast("BinaryIO", process.stdin), text.encode("utf-8", "replace")
    _start(lambda: _write(stdin, data))
    try:
        code = process.wait(command.timeout)
    except subprocess.TimeoutExpired:
        seconds = f"{command.timeout:,g} s"
        problem = f"the {kind} command {name!r} did not finish within {seconds}"
        raise CommandFailed(
            f"{problem}{errors.tail()}", fix=f"raise its `timeout` {place}"
        ) from None
    finally:  # also if the task is cancelled, which raises an exception here
        process.kill()
        process.wait()
        output.finish()
        errors.finish()
    if code != 0 and not output.is_full:
        problem = f"the {kind} command {name!r} failed with exit code {code}"
        raise CommandFailed(f"{problem}{errors.tail()}", fix="run it by hand")
    answer = plain_text(output.text()).strip()
    if not answer and not may_be_silent:
        problem = f"the {kind} command {name!r} printed no answer"
        raise CommandFailed(f"{problem}{errors.tail()}", fix="run it by hand")
    note = f"The answer was cut after {count_noun(MAX_ANSWER_BYTES, 'byte')}."
    return Answer(answer, note if output.is_full else "")


class _Reader:
    """Reads a pipe in a thread, up to a number of bytes; the rest is discarded."""

    def __init__(
        self, descriptor: int, limit: int, on_full: Callable[[], None] = lambda: None
    ) -> None:
        self._descriptor, self._limit, self._on_full = descriptor, limit, on_full
        self._data = b""
        self.is_full = False
        self._thread = _start(self._read)

    def _read(self) -> None:
        parts: list[bytes] = []
        size = 0
        while part := os.read(self._descriptor, _READ_BYTES):
            if size <= self._limit:
                parts.append(part)
                size += len(part)
                self._data = b"".join(parts)[: self._limit]
            if size > self._limit and not self.is_full:
                self.is_full = True
                self._on_full()

    def finish(self) -> None:
        """Waits for the end of the output, but not for processes that keep the pipe open."""
        self._thread.join(_LEFTOVER_SECONDS)

    def text(self) -> str:
        # A cut may divide the bytes of a character: only at the end, where they are dropped.
        return self._data.decode("utf-8", "ignore" if self.is_full else "replace")

    def tail(self) -> str:
        """Returns the last lines, for the end of a message; empty if there are none."""
        lines = plain_text(self.text()).strip().splitlines()[-ERROR_LINES:]
        return ":\n" + "\n".join(f"  {line}" for line in lines) if lines else ""


def _write(pipe: BinaryIO, data: bytes) -> None:
    with suppress(OSError), pipe:  # a command need not read its input
        pipe.write(data)


def _start(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, name="user command", daemon=True)
    thread.start()
    return thread
