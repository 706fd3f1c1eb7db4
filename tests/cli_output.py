"""Runs a gymnast command within the process of a test."""

from __future__ import annotations

from click.testing import CliRunner

from gymnast.cli import cli


def cli_output(*words: str, answer: str | None = None) -> str:
    """Returns what the command prints to stdout. It must end with exit code 0; its errors are raised."""
    done = CliRunner().invoke(cli, words, input=answer, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout
