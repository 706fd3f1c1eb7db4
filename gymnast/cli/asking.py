"""`gymnast train --ask`: nothing begins, and nothing is written, before a person agrees."""

from __future__ import annotations

import sys

import click

from gymnast.errors import UsageError

DECLINED = 1
"""The exit code when the answer is no; Ctrl-C at the prompt exits with 130, like everywhere."""


def refuse_without_terminal() -> None:
    """Before anything is prepared: where nobody can answer, nobody can be asked."""
    if not sys.stdin.isatty():
        fix = "leave --ask out, or start it in a terminal"
        raise UsageError("--ask needs a terminal to ask in, and stdin is none", fix=fix)


def agreed() -> bool:
    """The answer. Asked on stderr, so that --json prints nothing but JSON."""
    if click.confirm("start?", default=False, err=True):
        return True
    click.echo("not started: nothing was written", err=True)
    return False
