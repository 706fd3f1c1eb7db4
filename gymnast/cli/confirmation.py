"""`gymnast train --ask`: nothing starts and nothing is written before the user confirms."""

from __future__ import annotations

import sys

import click

from gymnast.errors import UsageError

DECLINED = 1
"""Exit code if the answer is no; Ctrl-C at the prompt exits with 130, as everywhere."""


def require_terminal() -> None:
    """Raises UsageError if stdin is not a terminal; called before anything is prepared."""
    if not sys.stdin.isatty():
        fix = "omit --ask, or run it in a terminal"
        raise UsageError("--ask needs a terminal, and stdin is not one", fix=fix)


def confirm_start() -> bool:
    """Asks for confirmation on stderr, so that --json prints nothing but JSON; True if the user agrees.
    Raises click.Abort at the end of the input."""
    # Not click.confirm: it calls `input`, which loses a Ctrl-C that arrives while it flushes (CPython
    # clears the exception), and would then wait for an answer.
    while True:
        click.echo("start? [y/N]: ", nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            raise click.Abort
        answer = line.strip().lower()
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            click.echo("not started: nothing was written", err=True)
            return False
        click.echo("answer y or n", err=True)
