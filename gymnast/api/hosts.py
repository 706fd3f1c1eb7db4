"""Other hosts: whether jobs of this machine can train there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymnast.errors import UsageError
from gymnast.jobs.remote.check import HostCheck, check_host
from gymnast.jobs.remote.provider import configured_provider, find_provider, require_programs

if TYPE_CHECKING:
    from gymnast.api.training import Place


def host_check(provider: str, *, env: str = "") -> HostCheck:
    """Compares the host of a provider of the settings file with this machine: gymnast's code, Python,
    packages and instruction sets of the CPU. `env`: an environment whose packages are compared too."""
    return check_host(configured_provider(provider), env)


# For the command line, whose user may name any host.


def check_target(target: str, *, env: str = "") -> HostCheck:
    """Does the same for a provider of any form: a name, `ssh:HOST`, ..."""
    provider = find_provider(target)
    require_programs(provider)
    return check_host(provider, env)


def place(jobs_on: str | None, *, requeue: bool) -> Place | None:
    """Returns where jobs train, for a provider of any form; None for this machine."""
    from gymnast.api.training import Place

    if jobs_on is None:
        return None
    provider = find_provider(jobs_on)
    if not provider.submit:
        raise UsageError(f"{jobs_on!r} has no submit command", fix="gymnast train --help")
    return Place(provider, requeue)
