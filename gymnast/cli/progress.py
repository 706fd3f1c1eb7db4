"""Progress on stderr: a bar in a terminal, elsewhere a line from time to time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

LINE_SECONDS = 10.0
"""Seconds between two lines where stderr is not a terminal."""


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Shows progress, unless the label is empty, and yields the function `update(done, total)` that advances
    it."""
    if label and not sys.stderr.isatty():
        yield _line_printer(label)
        return
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=not label) as bar:

        def update(done: int, total: int) -> None:
            if not bar.pos:  # the time before the first call would spoil the estimate of the rest
                bar.start = bar.last_eta = time.time()
            bar.length = total  # often unknown before the first call
            bar.update(done - bar.pos)

        yield update


def _line_printer(label: str) -> Callable[[int, int], None]:
    """Returns `update(done, total)`, which prints a line if the last one is LINE_SECONDS old."""
    printed = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal printed
        if time.monotonic() - printed >= LINE_SECONDS:
            printed = time.monotonic()
            click.echo(f"{label}: {done:,} of {total:,}", err=True)

    return update
