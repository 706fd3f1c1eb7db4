"""Other hosts: whether jobs of this machine can train there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gymnast.errors import UsageError
from gymnast.jobs import record
from gymnast.jobs.remote.check import HostCheck, check_host
from gymnast.jobs.remote.provider import configured_provider, find_provider, require_programs

if TYPE_CHECKING:
    from gymnast.api.training import Place
    from gymnast.jobs.detach import StartedRun
    from gymnast.jobs.remote.ray_cluster import OwnCluster


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
    require_programs(provider)
    return Place(provider, requeue)


def own_ray_cluster(started: StartedRun) -> OwnCluster | None:
    """Returns the Ray cluster that gymnast has started on this machine for a job; None if the job trains
    elsewhere, or if the cluster has ended already."""
    from gymnast.jobs.remote.ray_cluster import find_cluster, remote_id

    job = record.read(record.jobs_dir(Path(started.path).parent), started.id)
    return find_cluster() if job.get("remote_id") == remote_id(started.id) else None
