"""A progress bar on stderr, shown only in a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Shows a progress bar, unless the label is empty, and yields the function `update(done, total)` that
    advances it."""
    hidden = not label or not sys.stderr.isatty()
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=hidden) as bar:

        def update(done: int, total: int) -> None:
            if not bar.pos:  # the time before the first call would spoil the estimate of the rest
                bar.start = bar.last_eta = time.time()
            bar.length = total  # often unknown before the first call
            bar.update(done - bar.pos)

        yield update
