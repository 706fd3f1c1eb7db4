"""Questions before something is started or deleted: nothing happens before the user confirms."""

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
    """Asks whether to start training; True if the user agrees."""
    agreed = confirm("start?")
    if not agreed:
        click.echo("not started: nothing was written", err=True)
    return agreed


def confirm(question: str) -> bool:
    """Asks on stderr, so that --json prints nothing but JSON; no answer means no. Raises click.Abort on
    Ctrl-C and at the end of the input."""
    # Not click.confirm: it calls `input`, which loses a Ctrl-C that arrives while it flushes (CPython
    # clears the exception), and would then wait for an answer.
    while True:
        click.echo(f"{question} [y/N]: ", nl=False, err=True)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            raise click.Abort from None
        if not line:
            raise click.Abort
        answer = line.strip().lower()
        if answer in ("y", "yes", "", "n", "no"):
            return answer in ("y", "yes")
        click.echo("Error: invalid input", err=True)
