"""A bar for whoever waits, on stderr and on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Gives what is to be told how many of how many are done."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=hidden) as bar:

        def told(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield told
