"""The commands that gymnast answers on a host for a machine that submits jobs to it, over ssh for example.

python -m gymnast.jobs.remote.host COMMAND ...

facts                    reads which facts matter, prints those of this host
receive RUNS             unpacks what a job needs from standard input
start RUNS ID MAX_JOBS   starts a received or visible job, prints its id
states RUNS              prints `ID STATE` for every job that lives
cancel RUNS ID           ends a job: it saves a checkpoint first
send RUNS ID PART        packs a run to standard output; PART: all, or small

A relative RUNS is below the home directory.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

from gymnast.errors import GymnastError
from gymnast.hosts import HostFacts
from gymnast.jobs import queue, record
from gymnast.jobs.detach import start_worker
from gymnast.jobs.remote import transfer
from gymnast.jobs.remote.arrival import read_visible
from gymnast.records import to_json
from gymnast.runs import document


def main() -> int:
    """Returns the exit code."""
    command, *arguments = sys.argv[1:]
    try:
        COMMANDS[command](*arguments)
    except GymnastError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _facts() -> None:
    asked = document.loads(sys.stdin.buffer.read())
    print(document.dumps(to_json(HostFacts.here(asked["packages"], asked["modules"]))))


def _receive(runs: str) -> None:
    transfer.unpack(sys.stdin.buffer, _runs_dir(runs))


def _start(runs: str, job_id: str, max_jobs: str) -> None:
    runs_dir = _runs_dir(runs)
    folder = record.jobs_dir(runs_dir)
    read_visible(runs_dir, job_id)
    limit = queue.max_jobs(int(max_jobs) or None)
    place = queue.enqueue(folder / _queue_name(), job_id)
    record.update(folder, job_id, queue=_queue_name(), place=place.name, limit=limit)
    start_worker(runs_dir, job_id, place, limit)
    print(job_id)


def _states(runs: str) -> None:
    for job_id, state in queue.job_states(_queue_dir(runs)).items():
        print(job_id, state)


def _cancel(runs: str, job_id: str) -> None:
    if queue.cancel(_queue_dir(runs), job_id):
        record.update(record.jobs_dir(_runs_dir(runs)), job_id, cancelled=True)
        return
    # The lock on its place shows that the process lives, so that the pid is still its own.
    if queue.job_states(_queue_dir(runs)).get(job_id) == queue.RUNNING:
        pid = record.read(record.jobs_dir(_runs_dir(runs)), job_id).get("pid")
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def _send(runs: str, job_id: str, part: str) -> None:
    transfer.pack_run(_runs_dir(runs), job_id, sys.stdout.buffer, small=part == "small")


COMMANDS = {
    "facts": _facts,
    "receive": _receive,
    "start": _start,
    "states": _states,
    "cancel": _cancel,
    "send": _send,
}


def _runs_dir(runs: str) -> Path:
    return (Path.home() / Path(runs).expanduser()).resolve()


def _queue_name() -> str:
    """Returns the folder of the queue of this host, relative to that of the jobs. Several hosts may share a
    runs directory, and each has its own queue."""
    return f"hosts/{socket.gethostname()}"


def _queue_dir(runs: str) -> Path:
    return record.jobs_dir(_runs_dir(runs)) / _queue_name()


if __name__ == "__main__":
    sys.exit(main())
