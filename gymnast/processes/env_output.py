"""Keeps the output and warnings of environments separate from the output of a command.

A command that runs environments keeps standard output for its own result. Meanwhile `print` in an
environment, and whatever C code writes to file descriptor 1, goes to the run's log, or to standard error
if there is no run. The output of workers goes the same way, through the logger `gymnast.envs`.
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
from functools import partial
from typing import TextIO

_STDOUT, _STDERR = 1, 2
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class _Separation:
    """State while standard output is reserved for the command."""

    out: TextIO
    is_file: bool
    """True if `out` is the former file descriptor 1; False if a test or a notebook replaced `sys.stdout`."""
    warned: dict[str, None] = field(default_factory=dict[str, None])
    """Warnings that no log has received yet, without duplicates (an ordered set)."""
    reported: set[str] = field(default_factory=set[str])
    """All warnings so far, so that each is reported once."""


_separation: _Separation | None = None


@contextmanager
def separate_env_output() -> Iterator[TextIO]:
    """Reserves standard output for the command and yields it. Warnings that no run's log has received are
    printed at the end, one line each."""
    global _separation
    if _separation is not None:  # nested: the outer block keeps control
        yield _separation.out
        return
    before, show, hook = sys.stdout, warnings.showwarning, sys.breakpointhook
    before.flush()  # what Python has buffered belongs to the command
    is_file = _is_file(before)
    _separation = separation = _Separation(_copy_of(before) if is_file else before, is_file)
    _point_stdout_to(_STDERR)
    sys.stdout = lines = _LoggedLines()
    warnings.showwarning = partial(_report_once, _keep_for_end)
    sys.breakpointhook = _breakpoint
    try:
        yield separation.out
    finally:
        lines.close()
        sys.stdout, warnings.showwarning, sys.breakpointhook = before, show, hook
        if is_file:
            separation.out.flush()
            _point_stdout_to(separation.out.fileno())
            separation.out.close()
        _separation = None
        for text in separation.warned:
            print(f"warning: {text}", file=sys.stderr)


@contextmanager
def redirect_env_output(file: int, write_line: Callable[[str], None]) -> Iterator[None]:
    """Sends warnings, and what C code writes to descriptor 1, to a log while inside; `print` gets there
    through the logger `gymnast.envs`. `file`: the log's descriptor; `write_line`: appends a line to it. Has
    no effect outside of `separate_env_output`."""
    if _separation is None:
        yield
        return
    for text in _separation.warned:  # warnings from before there was a log
        write_line(f"warning: {text}")
    _separation.warned.clear()
    show_before = warnings.showwarning
    warnings.showwarning = partial(_report_once, write_line)
    _point_stdout_to(file)
    try:
        yield
    finally:
        _point_stdout_to(_STDERR)  # as in `separate_env_output` while there is no log
        warnings.showwarning = show_before


def is_separated() -> bool:
    """True inside of `separate_env_output`."""
    return _separation is not None


class _LoggedLines(io.TextIOBase):
    """The `sys.stdout` of environments: logs each line to `gymnast.envs`."""

    def __init__(self) -> None:
        self._part = ""
        """The last line, as long as it is incomplete."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return _STDOUT

    def write(self, text: str) -> int:
        *lines, self._part = (self._part + text).split("\n")
        for line in lines:
            self._log(line)
        return len(text)

    def flush(self) -> None:
        pass  # an incomplete line waits for its end

    def close(self) -> None:
        if self._part:
            self._log(self._part)
        super().close()

    def _log(self, line: str) -> None:
        logging.getLogger("gymnast.envs").warning("environment: %s", line)


def _keep_for_end(line: str) -> None:
    """Keeps a warning for the log of a run, or for the end of the command."""
    if _separation is not None:
        _separation.warned.setdefault(line.removeprefix("warning: "))


def _report_once(
    keep: Callable[[str], None],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    *_: object,
) -> None:
    """Passes a warning to `keep`, as one line, unless it was reported before. The other arguments are those
    of `warnings.showwarning`."""
    # Gymnasium colors its warnings and puts "WARN: " in front.
    text = _COLORS.sub("", str(message)).removeprefix("WARN: ")
    text = f"{text} ({category.__name__}, {filename}:{lineno})"
    if _separation is not None and text not in _separation.reported:
        _separation.reported.add(text)
        keep(f"warning: {text}")


def _breakpoint(*args: object, **kwargs: object) -> object:
    """Gives the debugger the terminal as standard output."""
    if _separation is not None:
        sys.stdout = _separation.out
    return sys.__breakpointhook__(*args, **kwargs)


def _is_file(stream: TextIO) -> bool:
    """True if a stream writes to file descriptor 1."""
    try:
        return stream.fileno() == _STDOUT
    except (OSError, ValueError):
        return False


def _copy_of(stream: TextIO) -> TextIO:
    """Returns a stream to where descriptor 1 points now, which is redirected next."""
    more = {"encoding": stream.encoding, "errors": stream.errors}
    buffering = 1 if stream.isatty() else -1
    return open(os.dup(_STDOUT), "w", buffering, **more)


def _point_stdout_to(file: int) -> None:
    """Redirects descriptor 1 to another file, given by its descriptor. Output that C code has buffered still
    goes to the old one."""
    if _separation is not None and _separation.is_file:
        ctypes.CDLL(None).fflush(None)
        with suppress(OSError):  # standard error may be closed
            os.dup2(file, _STDOUT)
