"""Compares the host of a provider with this machine before a job is submitted to it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass

from gymnast.errors import CommandFailed, GymnastError
from gymnast.hosts import Difference, HostFacts, differences, env_packages
from gymnast.jobs.remote.call import run_there
from gymnast.jobs.remote.provider import Provider
from gymnast.records import from_json
from gymnast.runs import document


@dataclass(frozen=True)
class HostCheck:
    """The comparison of a host with this machine."""

    provider: str
    here: HostFacts
    there: HostFacts | None
    """None if the provider has no `shell`: then every job makes the comparison when it starts."""
    differences: tuple[Difference, ...]
    ok: bool
    """Whether jobs of this machine can train there."""


def check_host(provider: Provider, env_id: str = "", modules: Iterable[str] = ()) -> HostCheck:
    """Compares the host of a provider with this machine. `env_id`: an environment whose packages are compared
    too; `modules`: modules of the user, likewise. Raises CommandFailed if the host does not answer."""
    here = HostFacts.here(env_packages(env_id), modules)
    if provider.shell is None:
        return HostCheck(provider.name, here, None, (), ok=True)
    there = ask_host(provider, here)
    found = tuple(differences(here, there))
    return HostCheck(provider.name, here, there, found, not any(d.blocks for d in found))


def ask_host(provider: Provider, like: HostFacts) -> HostFacts:
    """Returns the facts of a provider's host, about the same packages and modules as `like`."""
    asked = {"packages": [*like.packages], "modules": [*like.modules]}
    with tempfile.TemporaryFile() as question:
        question.write(json.dumps(asked).encode())
        question.seek(0)
        try:
            answer = run_there(provider, ["facts"], stdin=question)
        except CommandFailed as error:
            fix = "install gymnast there, and set `python` of the provider to its interpreter"
            unusable = "No module named" in error.message or "not found" in error.message
            raise CommandFailed(error.message, fix=fix if unusable else error.fix) from None
    try:
        # A login script may print lines of its own before the answer.
        return from_json(HostFacts, document.loads(answer.strip().splitlines()[-1]))
    except (ValueError, IndexError):  # pydantic's errors are ValueErrors
        problem = f"{provider.name} answered with something else than its facts: {answer[:200]!r}"
        raise GymnastError(problem, fix="install the same version of gymnast there") from None
