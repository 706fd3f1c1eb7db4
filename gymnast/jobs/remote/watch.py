"""Asks providers about their jobs, copies runs back, and continues jobs that were preempted.

Every question has a deadline. A provider that is late does not delay the others, and its jobs keep the last
known state with the reason why it is not newer.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gymnast.errors import GymnastError
from gymnast.jobs import record
from gymnast.jobs.detach import delete_unless_run
from gymnast.jobs.remote import transfer
from gymnast.jobs.remote.call import TRANSFER_SECONDS, call_provider, run_there
from gymnast.jobs.remote.provider import Provider, find_provider
from gymnast.jobs.remote.state import is_preempted, late_text, remote_status, waits_to_continue
from gymnast.jobs.remote.submit import placeholders, start_there
from gymnast.runs import durable, layout, lock
from gymnast.runs.run import ACTIVE, read_info

MAX_FRUITLESS = 3
"""How often a job is continued after preemptions between which it made no progress."""
_WAITING = ("queued", "waiting", "pending", "pd", "qw", "hqw", "q", "configuring", "cf", "requeued",
    "requeue_hold", "requeue_fed", "resv_del_hold", "special_exit", "suspended", "h", "hold")  # fmt: skip
"""Words for a job that waits, in lower case; a job with any other word, except those below, runs."""
_ENDED = ("gone", "ended", "done", "completed", "cd", "c", "failed", "f", "cancelled", "ca", "timeout", "to",
    "node_fail", "nf", "out_of_memory", "oom", "boot_fail", "deadline", "succeeded", "stopped", "unknown",
    "e", "x", "exit")  # fmt: skip
"""Words for a job that has ended."""


def ask_providers(
    runs_dir: Path, jobs: Mapping[str, Sequence[record.JobRecord]], *, files: bool
) -> None:
    """Asks providers about their jobs and records the answers. `jobs`: provider -> its jobs; `files`: also
    copy the files that show how a run is, if its host does not share the runs directory."""
    with ThreadPoolExecutor(min(len(jobs), 8)) as pool:
        asked = [
            pool.submit(_refresh_of, name, listed, runs_dir, files) for name, listed in jobs.items()
        ]
    for answer in asked:
        answer.result()  # an unexpected error of a thread must not pass unnoticed


def _refresh_of(name: str, jobs: Sequence[record.JobRecord], runs_dir: Path, files: bool) -> None:
    """Asks one provider about its jobs."""
    folder = record.jobs_dir(runs_dir)
    try:
        provider = find_provider(name)
        states = ask_states(provider, jobs)
    except GymnastError as error:
        for job in jobs:
            late = late_text(job, error.message)
            record.update(folder, job["id"], late=late, checked=time.time())
        return
    for job in jobs:
        now = time.time()
        if states is not None:
            state = states.get(job.get("remote_id", ""), "gone")
            record.update(folder, job["id"], state=state, late="", checked=now, answered=now)
        else:
            record.update(folder, job["id"], checked=now, answered=now)
        _settle(provider, record.read(folder, job["id"]), runs_dir, files)


def ask_states(
    provider: Provider, jobs: Sequence[record.JobRecord]
) -> dict[str, record.RemoteState] | None:
    """Returns id -> state of the jobs that a provider lists; None if it has no status command. Raises
    CommandFailed if it does not answer."""
    if provider.status is None:
        return None
    ids = [job.get("remote_id", "") for job in jobs]
    if any("{id}" in word or "{job}" in word for word in provider.status):
        return {
            remote_id: state
            for job, remote_id in zip(jobs, ids, strict=True)
            for state in parse_states(_ask(provider, job, ids), remote_id).values()
        }
    return parse_states(_ask(provider, jobs[0], ids))


def _ask(provider: Provider, job: record.JobRecord, ids: Sequence[str]) -> str:
    assert "remote" in job
    values = placeholders(job["remote"], job["id"])
    values |= {"id": job.get("remote_id", ""), "ids": ",".join(ids)}
    return call_provider(provider, "status", values)


def parse_states(text: str, only: str = "") -> dict[str, record.RemoteState]:
    """Returns id -> state from lines `ID STATE`. `only`: the id of the job if the text is about a single one;
    then a line may also be just its state."""
    states: dict[str, record.RemoteState] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2:
            states[words[0]] = _state(words[1])
        elif words and only:
            states[only] = _state(words[0])
    return {only: states[only]} if only in states else {} if only else states


def _state(word: str) -> record.RemoteState:
    word = word.lower()
    return "waiting" if word in _WAITING else "gone" if word in _ENDED else "running"


def _settle(provider: Provider, job: record.JobRecord, runs_dir: Path, files: bool) -> None:
    """Copies the files of a job, if that is necessary, and records whether it has ended for good."""
    folder, path = record.jobs_dir(runs_dir), runs_dir / job["id"]
    is_gone, runs = job.get("state") == "gone", job.get("state") == "running"
    # Without its files, or with those of an earlier attempt, nobody would know that it trains.
    wanted = files or remote_status(path, job)[0] not in ACTIVE
    if provider.store == "copy" and (is_gone or (runs and wanted)):
        try:
            _fetch(provider, runs_dir, job["id"], small=not is_gone)
        except GymnastError as error:
            record.update(folder, job["id"], late=late_text(job, error.message))
            return
        job = record.read(folder, job["id"])
    elif files and provider.log is not None and not layout.RUN.path(path).exists():
        _fetch_output(provider, job, folder)
    has_ended = is_gone or (provider.status is None and _has_recorded_its_end(path, job))
    if has_ended and not is_preempted(path, job):
        delete_unless_run(path)
        record.update(folder, job["id"], settled=True)
    elif not is_gone and provider.store == "copy" and layout.HEARTBEAT.path(path).exists():
        layout.HEARTBEAT.path(path).touch()  # its host says that it lives


def _has_recorded_its_end(path: Path, job: record.JobRecord) -> bool:
    status, _ = remote_status(path, job)
    return job.get("ended") is not None and status not in ACTIVE


def _fetch_output(provider: Provider, job: record.JobRecord, folder: Path) -> None:
    """Writes what the log command of a provider prints about a job to the job's output file."""
    assert "remote" in job
    values = placeholders(job["remote"], job["id"])
    values |= {"id": job.get("remote_id", ""), "ids": job.get("remote_id", "")}
    try:
        text = call_provider(provider, "log", values)
    except GymnastError as error:
        record.update(folder, job["id"], late=late_text(job, error.message))
    else:
        durable.replace(record.output_file(folder, job["id"]), text.encode())


def _fetch(provider: Provider, runs_dir: Path, job_id: str, *, small: bool) -> None:
    """Copies the run of a job from its host, and the end of the job if it has ended."""
    part = "small" if small else "all"
    with tempfile.TemporaryFile() as archive:
        arguments = ["send", provider.runs, job_id, part]
        run_there(provider, arguments, stdout=archive, timeout=TRANSFER_SECONDS)
        archive.seek(0)
        there = transfer.place_run(archive, runs_dir, job_id)
    record.update(
        record.jobs_dir(runs_dir),
        job_id,
        ended=there.get("ended"),
        exit_code=there.get("exit_code"),
        words=there.get("words", ""),
    )


def continue_job(runs_dir: Path, job_id: str) -> bool:
    """Submits a preempted job again, unless another process has just done so. Returns False if it was not
    submitted; it is given up if it makes no progress between preemptions. Raises CommandFailed if the
    provider does not accept it."""
    folder = record.jobs_dir(runs_dir)
    with lock.exclusive(folder / "requeue-lock"):
        job = record.read(folder, job_id)
        if "remote" not in job or not waits_to_continue(runs_dir, job):
            return False
        steps = int(read_info(runs_dir / job_id)["clocks"].get("env_steps", 0))
        fruitless = job.get("fruitless", 0) + 1 if job.get("steps_at_requeue") == steps else 0
        if fruitless >= MAX_FRUITLESS:
            record.update(folder, job_id, settled=True, stop_asked=True)
            return False
        start_there(find_provider(job["remote"]["on"]), runs_dir, job_id)
        requeues = job.get("requeues", 0) + 1
        record.update(
            folder, job_id, requeues=requeues, fruitless=fruitless, steps_at_requeue=steps
        )
    return True


def cancel_job(runs_dir: Path, job_id: str) -> bool:
    """Asks the provider to end a job, which saves a checkpoint first if it trains. Returns False if the
    provider has no command for it. Raises CommandFailed if that fails."""
    folder = record.jobs_dir(runs_dir)
    job = record.read(folder, job_id)
    assert "remote" in job
    provider = find_provider(job["remote"]["on"])
    if provider.cancel is None:
        return False
    record.update(folder, job_id, stop_asked=True, cancelled=True)
    values: Mapping[str, str] = placeholders(job["remote"], job_id)
    call_provider(provider, "cancel", {**values, "id": job.get("remote_id", ""), "ids": ""})
    record.update(folder, job_id, checked=0.0)
    return True
