"""The start of a job on the host where it trains: its directory, its files, and the check of the host."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from gymnast.errors import GymnastError, RunError
from gymnast.hosts import HostFacts, refuse_differences
from gymnast.jobs import record
from gymnast.records import from_json
from gymnast.runs import layout
from gymnast.runs.run import read_info


def read_visible(runs_dir: Path, job_id: str) -> record.JobRecord:
    """Returns the record of a job that was submitted elsewhere. Raises RunError if this host does not see
    it."""
    folder = record.jobs_dir(runs_dir)
    if not record.has_record(folder, job_id):
        raise RunError(
            f"{socket.gethostname()} does not see the runs directory of job {job_id}",
            at=str(runs_dir),
            fix="share it between the hosts, or set `runs` of the provider to its path there",
        )
    return record.read(folder, job_id)


def enter_job(remote: record.RemoteRequest, path: Path) -> None:
    """Changes to the working directory of a job and creates the directory of its run, `path`, if necessary.
    Prints differences between this host and the one that submitted the job. Raises GymnastError if they do
    not allow the job to train here."""
    cwd = Path(remote["cwd"] or code_dir(record.jobs_dir(path.parent), path.name))
    try:
        os.chdir(cwd)
    except OSError as error:
        problem = f"the working directory of the job cannot be entered on {socket.gethostname()}"
        fix = "share it between the hosts, or submit from a directory that all of them have"
        raise GymnastError(f"{problem}: {error.strerror}", at=str(cwd), fix=fix) from None
    check_here(from_json(HostFacts, remote["facts"]))
    path.mkdir(exist_ok=True)


def check_here(submitter: HostFacts) -> None:
    """Compares this host with the one that submitted a job, and prints differences between their CPUs. Raises
    GymnastError for all others."""
    here = HostFacts.here(submitter.packages, submitter.modules)
    for difference in refuse_differences(submitter, here):
        print(f"{here.host} differs from {submitter.host}: {difference} (last bits may differ)")


def was_started(job: record.JobRecord, path: Path) -> bool:
    """Returns whether an earlier process of this job has already trained, so that its run is continued."""
    if not layout.RUN.path(path).exists():
        return False
    return job["attempts"] == 0 or read_info(path)["attempts"] > job["attempts"]


def code_dir(folder: Path, job_id: str) -> Path:
    """Returns the directory with the copies of the user's files that a job needs. `folder`: that of the
    jobs."""
    return folder / f"{job_id}.code"
