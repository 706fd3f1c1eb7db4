"""Runs the commands of a provider, each with a deadline."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO

from gymnast.errors import CommandFailed
from gymnast.jobs.remote.provider import Provider, Words
from gymnast.processes import guard
from gymnast.text.command_template import fill_template, quote_word
from gymnast.text.plain import plain_text

TRANSFER_SECONDS = 600.0
"""Deadline for copying a run from or to a host."""
_ERROR_CHARS = 600
"""Number of the last characters of a failed command's message that are shown."""


def call_provider(
    provider: Provider,
    kind: str,
    values: Mapping[str, str],
    argv: Sequence[str] = (),
    *,
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
    timeout: float | None = None,
) -> str:
    """Runs a command of the provider (`submit`, `status`, `cancel`, `log`, `shell`) and returns what it
    printed, unless that goes to the file `stdout`. `values`: placeholder -> value, in addition to those of
    the provider; `argv`: the words of {argv}; `timeout`: seconds, by default those of the provider. Raises
    CommandFailed if it cannot be started, fails or has no end in time."""
    template: Words | None = getattr(provider, kind)
    assert template, f"{provider.name} has no {kind} command"
    known = {"host": provider.host, "python": python_there(provider), **values}
    words = fill_template(template, known, argv)
    limit = timeout or provider.timeout
    what = f"the {kind} command of {provider.name}"
    try:
        done = subprocess.run(
            words,
            stdin=stdin or subprocess.DEVNULL,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=limit,
            env=guard.detached_environ(),
            start_new_session=True,  # Ctrl-C here must not end what it starts there
        )
    except subprocess.TimeoutExpired:
        fix = f"check {provider.host or words[0]}, or raise `timeout` of the provider"
        raise CommandFailed(f"{what} did not answer within {limit:g} s", fix=fix) from None
    except OSError as error:
        raise CommandFailed(f"{what} cannot be started: {words[0]}: {error.strerror}") from error
    if done.returncode != 0:
        said = plain_text((done.stderr or done.stdout or b"").decode(errors="replace")).strip()
        raise CommandFailed(
            f"{what} failed with exit code {done.returncode}: {said[-_ERROR_CHARS:]}",
            fix=f"run it by hand: {shlex.join(words)}" if len(shlex.join(words)) < 300 else "",
        )
    return (done.stdout or b"").decode(errors="replace")


def run_there(
    provider: Provider,
    arguments: Sequence[str],
    *,
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
    timeout: float | None = None,
) -> str:
    """Asks gymnast on the host of a provider that has a `shell`; returns what it printed, unless that goes to
    the file `stdout`. `arguments`: those of `python -m gymnast.jobs.remote.host`. Raises CommandFailed."""
    words = [python_there(provider), "-m", "gymnast.jobs.remote.host", *arguments]
    command = {"command": " ".join(map(quote_word, words))}
    return call_provider(provider, "shell", command, stdin=stdin, stdout=stdout, timeout=timeout)


def python_there(provider: Provider) -> str:
    """Returns the path of the Python interpreter on the provider's hosts."""
    return provider.python or sys.executable
