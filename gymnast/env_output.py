"""What environments print and warn of does not mix with what a command prints.

A command that runs environments keeps standard output for its own answer. Meanwhile `print` in an
environment, and whatever C code writes to file descriptor 1, goes to the run's log, or to standard error
where there is no run. Workers' output takes the same way, through the logger `gymnast.envs`.
"""

from __future__ import annotations

import ctypes
import io
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TextIO

_STDOUT, _STDERR = 1, 2
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class _Apart:
    """While standard output is kept for the command's own answer."""

    out: TextIO
    is_file: bool
    """`out` is what file descriptor 1 was; false where a test or a notebook put something else there."""
    warned: dict[str, None] = field(default_factory=dict[str, None])
    """Warnings, each once, that no log has taken yet."""
    shown: set[str] = field(default_factory=set[str])


_apart: _Apart | None = None


@contextmanager
def kept_apart() -> Iterator[TextIO]:
    """Yields standard output, for the command itself. Warnings that no run's log took are shown in the
    end, one line each."""
    global _apart
    if _apart is not None:
        yield _apart.out
        return
    before, show, hook = sys.stdout, warnings.showwarning, sys.breakpointhook
    before.flush()
    is_file = _is_file(before)
    _apart = apart = _Apart(_copy_of(before) if is_file else before, is_file)
    _point_to(_STDERR)
    sys.stdout = lines = _Lines()
    warnings.showwarning = _warned
    sys.breakpointhook = _breakpoint
    try:
        yield apart.out
    finally:
        lines.close()
        sys.stdout, warnings.showwarning, sys.breakpointhook = before, show, hook
        if is_file:
            apart.out.flush()
            _point_to(apart.out.fileno())
            apart.out.close()
        _apart = None
        for text in apart.warned:
            print(f"warning: {text}", file=sys.stderr)


@contextmanager
def kept_in(file: int, line: Callable[[str], None]) -> Iterator[None]:
    """While inside, a log takes what environments write and warn of: `file` is its descriptor, `line`
    adds to it. Without effect unless output is kept apart."""
    if _apart is None:
        yield
        return
    for text in _apart.warned:
        line(f"warning: {text}")
    _apart.warned.clear()
    warned, warnings.showwarning = warnings.showwarning, lambda *about: _once(about, line)
    _point_to(file)
    try:
        yield
    finally:
        _point_to(_STDERR)
        warnings.showwarning = warned


def is_kept_apart() -> bool:
    return _apart is not None


class _Lines(io.TextIOBase):
    """What environments have as `sys.stdout`: each line is a record of their logger."""

    def __init__(self) -> None:
        self._part = ""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return _STDOUT

    def write(self, text: str) -> int:
        *lines, self._part = (self._part + text).split("\n")
        for line in lines:
            self._keep(line)
        return len(text)

    def flush(self) -> None:
        pass  # part of a line waits for the rest of it

    def close(self) -> None:
        if self._part:
            self._keep(self._part)
        super().close()

    def _keep(self, line: str) -> None:
        logging.getLogger("gymnast.envs").warning("environment: %s", line)


def _warned(*about: Any) -> None:
    if _apart is not None:
        warned = _apart.warned
        _once(about, lambda text: warned.setdefault(text.removeprefix("warning: ")))


def _once(about: tuple[Any, ...], keep: Callable[[str], Any]) -> None:
    """`about`: the arguments of `warnings.showwarning`."""
    message, category, filename, lineno = about[:4]
    text = _COLORS.sub("", str(message)).removeprefix("WARN: ")
    text = f"{text} ({category.__name__}, {filename}:{lineno})"
    if _apart is not None and text not in _apart.shown:
        _apart.shown.add(text)
        keep(f"warning: {text}")


def _breakpoint(*args: Any, **kwargs: Any) -> Any:
    """A debugger talks to the person."""
    if _apart is not None:
        sys.stdout = _apart.out
    return sys.__breakpointhook__(*args, **kwargs)


def _is_file(stream: TextIO) -> bool:
    try:
        return stream.fileno() == _STDOUT
    except (OSError, ValueError):
        return False


def _copy_of(stream: TextIO) -> TextIO:
    more = {"encoding": stream.encoding, "errors": stream.errors}
    buffering = 1 if stream.isatty() else -1
    return open(os.dup(_STDOUT), "w", buffering, **more)


def _point_to(file: int) -> None:
    """Have descriptor 1 be another file from here on; what C code has buffered goes to the old one."""
    if _apart is not None and _apart.is_file:
        ctypes.CDLL(None).fflush(None)
        with suppress(OSError):  # standard error is closed
            os.dup2(file, _STDOUT)
