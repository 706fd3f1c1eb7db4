"""Providers: the places where jobs can train, each a record of commands."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gymnast.errors import UsageError
from gymnast.settings import (
    JobProvider,
    Settings,
    check_host,
    check_submit,
    load_settings,
    settings_file,
)
from gymnast.text.command_template import parse_template

Words = tuple[str, ...]
TEMPLATE = "template"
"""Name of the provider of jobs that were submitted with a command template instead of a name."""
COPIES_TO = "gymnast-runs"
"""Runs directory on a host to which runs are copied, relative to the home directory there."""
RAY_IDLE_SECONDS = 30.0
"""Time without jobs after which a Ray cluster that gymnast has started ends."""
_AGENT = "{python} -m gymnast.jobs.remote.host"
"""Start of the commands that gymnast itself answers on a host."""


@dataclass(frozen=True)
class Provider:
    """The commands of a place where jobs train. Placeholders: `text.command_template`."""

    name: str
    """The name that the user gave it: one in the settings file, `slurm`, `ssh:HOST`, ..."""
    submit: Words
    """Starts a job and prints its id as the last word."""
    status: Words | None = None
    """Prints a line `ID STATE` per job. None: only the files of the run show how it is."""
    cancel: Words | None = None
    log: Words | None = None
    shell: Words | None = None
    """Runs {command} on the host, with its standard input and output."""
    store: Literal["shared", "copy"] = "shared"
    """Whether the host sees the runs directory, or runs are copied from it."""
    host: str = ""
    runs: str = ""
    """The runs directory there; empty: the same path as here."""
    python: str = ""
    """The Python interpreter there; empty: the same path as here."""
    timeout: float = 30.0
    """Seconds after which a command that has not answered is ended."""


def _over_shell(shell: Words) -> Provider:
    """Returns a provider that asks gymnast itself on a host, by commands that `shell` runs there."""

    def there(command: str) -> Words:
        return tuple(command if word == "{command}" else word for word in shell)

    return Provider(
        "",
        submit=there(f"{_AGENT} start {{runs}} {{job}} {{max_jobs}}"),
        status=there(f"{_AGENT} states {{runs}}"),
        cancel=there(f"{_AGENT} cancel {{runs}} {{job}}"),
        shell=shell,
    )


def _local(_options: Sequence[str]) -> Provider:
    return _over_shell(("sh", "-c", "{command}"))


def _ssh(options: Sequence[str]) -> Provider:
    # BatchMode: a question for a password would wait for an answer that nobody gives.
    program = ("ssh", "-oBatchMode=yes", "-oConnectTimeout=15", *options)
    return replace(
        _over_shell((*program, "--", "{host}", "{command}")), store="copy", runs=COPIES_TO
    )


def _slurm(options: Sequence[str]) -> Provider:
    # `exec`: SIGUSR1, one minute before the time limit, goes to the process of the script, which is then
    # the training. The list of all own jobs is asked for, since asking for one that has ended is an error.
    return Provider(
        "",
        submit=(
            *("sbatch", "--parsable", "{requeue}", "--signal=B:USR1@60", "--open-mode=append"),
            *("--job-name=gymnast-{name}", "--output={log}", *options, "--wrap", "exec {command}"),
        ),
        status=("squeue", "--me", "--noheader", "--format=%i %T"),
        cancel=("scancel", "{id}"),
    )


def _ray(_options: Sequence[str]) -> Provider:
    client = (sys.executable, "-P", "-m", "gymnast.jobs.remote.ray_jobs")
    return Provider(
        "",
        submit=(
            *(*client, "submit", "{host}", "{job}", "{log}", "{requeue}", "{max_jobs}"),
            *(str(RAY_IDLE_SECONDS), "{argv}"),
        ),
        status=(*client, "states", "{host}", "{ids}"),
        cancel=(*client, "cancel", "{host}", "{id}"),
        timeout=60.0,  # connecting to a cluster alone takes seconds, and starting one too
    )


SHIPPED: dict[str, Callable[[Sequence[str]], Provider]] = {
    "local": _local,
    "ssh": _ssh,
    "slurm": _slurm,
    "ray": _ray,
}
"""Name -> a function that returns a provider that comes with gymnast, with further options of its program."""
_WITH_HOST = ("ssh", "ray")
"""Providers to which a host or an address can be given, as in `ssh:HOST`."""


def find_provider(target: str) -> Provider:
    """Returns the provider that a user named: one of the settings file, `slurm`, `ray[:ADDRESS]`, `ssh:HOST`,
    `local`, or a command template with {command} or {argv}. Raises UsageError for anything else, before
    anything is started."""
    settings = load_settings()
    if target in settings.providers:
        return _configured(target, settings.providers[target])
    kind, _, host = target.partition(":")
    if kind in SHIPPED and (kind in _WITH_HOST or not host) and (kind != "ssh" or host):
        return replace(SHIPPED[kind](()), name=target, host=_checked_host(host, target))
    if target == TEMPLATE:  # of a job that was submitted before
        return Provider(TEMPLATE, submit=())
    if any(mark in target for mark in "{} "):
        return _from_template(target)
    raise _unknown(target, settings)


def configured_provider(name: str) -> Provider:
    """Returns a provider of the settings file. Raises UsageError if it has none with this name: requests from
    other programs may not name hosts or commands themselves."""
    settings = load_settings()
    if name not in settings.providers:
        known = ", ".join(settings.providers) or "none"
        raise UsageError(
            f"no provider is called {name!r}",
            at=str(settings_file()),
            fix=f"use one of those in the settings file ({known}), or add it there",
        )
    return _configured(name, settings.providers[name])


def require_programs(provider: Provider) -> None:
    """Raises UsageError if a program that a command of the provider starts is not installed here."""
    for kind in ("submit", "status", "cancel", "log", "shell"):
        words: Words | None = getattr(provider, kind)
        if words and shutil.which(words[0]) is None:
            raise UsageError(
                f"the {kind} command of {provider.name} starts {words[0]!r}, which was not found",
                fix="install it, or correct the provider in the settings file",
            )


def _configured(name: str, given: JobProvider) -> Provider:
    """Returns the provider of the settings file: what it sets, over the commands of the one it is like."""
    base = SHIPPED[given.like](given.options) if given.like else Provider(name, submit=())
    if given.shell and not given.like:
        base = _over_shell(tuple(given.shell))
    provider = replace(base, name=name, host=given.host)
    for kind in ("submit", "status", "cancel", "log", "shell"):
        if words := getattr(given, kind):
            provider = replace(provider, **{kind: tuple(words)})
    if given.store:
        is_copied = given.store == "copy"
        provider = replace(provider, store=given.store, runs=COPIES_TO if is_copied else "")
    if "timeout" in given.model_fields_set:
        provider = replace(provider, timeout=given.timeout)
    return replace(provider, runs=given.runs or provider.runs, python=given.python)


def _from_template(text: str) -> Provider:
    try:
        words = check_submit(parse_template(text) or [""])
    except ValueError as error:
        raise UsageError(f"--jobs-on: {error}", fix="e.g. 'qsub -terse -b y {argv}'") from None
    provider = Provider(TEMPLATE, submit=tuple(words))
    require_programs(provider)
    return provider


def _checked_host(host: str, target: str) -> str:
    try:
        return check_host(host)
    except ValueError as error:
        raise UsageError(f"--jobs-on {target}: {error}") from None


def _unknown(target: str, settings: Settings) -> UsageError:
    known = ", ".join([*settings.providers, "slurm", "ray", "ray:ADDRESS", "ssh:HOST", "local"])
    return UsageError(
        f"no provider is called {target!r}",
        fix=f"use one of {known}, a command with {{command}} or {{argv}}, or add one to {settings_file()}",
    )
