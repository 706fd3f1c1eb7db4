"""Whole runs in a Ray cluster: each job is a detached actor that trains in a process of its own.

python -m gymnast.jobs.remote.ray_jobs submit ADDRESS ID LOG REQUEUE MAX_JOBS IDLE ARGV...   prints the id
python -m gymnast.jobs.remote.ray_jobs states ADDRESS IDS                      prints `ID STATE` per job
python -m gymnast.jobs.remote.ray_jobs cancel ADDRESS ID

An empty ADDRESS is $RAY_ADDRESS, or the cluster that this machine belongs to. If there is none, or with the
address `local`, gymnast starts one (`ray_cluster.py`); the ids of its jobs end in @HOST.

A detached actor outlives the process that created it. With --requeue, Ray creates it again elsewhere when its
node dies, and it then continues the run from its last checkpoint. Ray unpickles what it receives: use it in
trusted networks only.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gymnast.errors import CommandFailed, GymnastError
from gymnast.jobs import queue
from gymnast.jobs.remote.ray_cluster import (
    NAMESPACE,
    OwnCluster,
    hold_cluster,
    hold_or_start,
    remote_id,
)
from gymnast.processes.local_ray import QUIET, load_ray, require_reachable

MODULE = "gymnast.jobs.remote.ray_jobs"
LOCAL = "local"
"""The address of the cluster that gymnast starts itself."""
ANSWER_SECONDS = 2.0
"""Time in which an actor that has started answers; one that has not waits for free cores."""
INTERRUPTED = 130
"""Exit code of a training that a signal ended."""
# Not imported from another module: the actor is sent to the hosts by value, and they import nothing for it.
DIES_WITH_PARENT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Starts a program that the kernel kills with the process that started it (PR_SET_PDEATHSIG), so that a
restarted actor finds its run unlocked."""


class JobActor:
    """Trains one job in a child process, on the host that Ray chose."""

    def __init__(self, argv: Sequence[str], log: str, requeue: bool) -> None:
        """`argv`: the command that trains; `log`: file for its output; `requeue`: start it again if a signal
        that nobody here sent ended it."""
        self.argv, self.log, self.requeue = argv, log, requeue
        self.child: subprocess.Popen[bytes] | None = None
        self.stopping = False
        threading.Thread(target=self._run, daemon=True).start()

    def answer(self) -> bool:
        """Returns True: the actor has started."""
        return True

    def stop(self) -> None:
        """Lets the training save a checkpoint and end."""
        self.stopping = True
        if self.child is not None:
            self.child.send_signal(signal.SIGTERM)

    def _run(self) -> None:
        import ray

        me = ray.get_runtime_context().current_actor
        try:
            while self._train() == INTERRUPTED and self.requeue and not self.stopping:
                pass
        finally:
            ray.kill(me, no_restart=True)

    def _train(self) -> int:
        with open(self.log, "ab") as output:
            self.child = subprocess.Popen(
                [sys.executable, "-c", DIES_WITH_PARENT, *self.argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            if self.stopping:
                self.child.send_signal(signal.SIGTERM)
            return self.child.wait()


def main() -> int:
    """Returns the exit code."""
    command, address, *arguments = sys.argv[1:]
    try:
        COMMANDS[command](address or os.environ.get("RAY_ADDRESS", ""), *arguments)
    except GymnastError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _submit(
    address: str, job_id: str, log: str, requeue: str, max_jobs: str, idle: str, *argv: str
) -> None:
    if address := _known_address(address):
        _create_actor(_connect(address), job_id, log, requeue, argv)
        print(job_id)
        return
    with hold_or_start(queue.max_jobs(int(max_jobs) or None), float(idle)) as cluster:
        _create_actor(_connect_own(cluster), job_id, log, requeue, argv)
    print(remote_id(job_id))


def _states(address: str, ids: str) -> None:
    own = [job_id for job_id in ids.split(",") if "@" in job_id]
    others = [job_id for job_id in ids.split(",") if job_id not in own]
    if own and others:  # a process can only be connected to one cluster
        command = [sys.executable, "-P", "-m", MODULE, "states", address, ",".join(own)]
        if subprocess.run(command).returncode != 0:
            raise CommandFailed("the Ray cluster of this machine does not answer")
    if others:
        _print_states(_connect(_known_address(address)), others)
    elif own:
        with _own_cluster_of(own) as cluster:
            if cluster is not None:  # otherwise they have ended, and the cluster with them
                _print_states(_connect_own(cluster), own)


def _cancel(address: str, job: str) -> None:
    if "@" not in job:
        _end_actor(_connect(_known_address(address)), job)
        return
    with _own_cluster_of([job]) as cluster:
        if cluster is not None:
            _end_actor(_connect_own(cluster), job)


COMMANDS = {"submit": _submit, "states": _states, "cancel": _cancel}


def _known_address(address: str) -> str:
    """Returns the address of the cluster that is used; empty: the one that gymnast starts. Without a given
    address it is the cluster that `ray start` made this machine a part of, if it lives."""
    if address:
        return "" if address == LOCAL else address
    folder = Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray"
    with suppress(OSError):  # there is no file, or its cluster was killed and the file stayed
        found = (folder / "ray_current_cluster").read_text().strip()
        require_reachable(found)
        return found
    return ""


@contextmanager
def _own_cluster_of(ids: Sequence[str]) -> Iterator[OwnCluster | None]:
    """Yields the cluster that gymnast has started for jobs with these ids; None if it has ended. Raises
    CommandFailed if it is on another machine, where it listens on the loopback address only."""
    here = socket.gethostname()
    for host in {job_id.partition("@")[2] for job_id in ids} - {here}:
        problem = f"jobs of the Ray cluster of {host} can only be asked for on {host}"
        raise CommandFailed(problem, fix="log in there")
    with hold_cluster() as cluster:
        yield cluster


def _connect_own(cluster: OwnCluster) -> Any:
    cluster.prepare_connection()
    return _connect(cluster.address)


def _connect(address: str) -> Any:
    """Returns the module `ray`, connected to the cluster at this address. Raises CommandFailed."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # no warning about GPUs
    ray = load_ray()
    try:
        if not address:
            raise ConnectionError("it belongs to no cluster")
        require_reachable(address)
        ray.init(address=address, namespace=NAMESPACE, **QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        where = address or "this machine"
        what = f"no Ray cluster answers at {where}: {str(error).splitlines()[0]}"
        raise CommandFailed(what, fix="start it, or name another one: ray:HOST:PORT") from None
    return ray


def _create_actor(ray: Any, job_id: str, log: str, requeue: str, argv: Sequence[str]) -> None:
    again = requeue == "--requeue"
    actor = ray.remote(JobActor).options(
        name=job_id, lifetime="detached", num_cpus=1, max_restarts=-1 if again else 0
    )
    actor.remote(list(argv), log, again)
    ray.get_actor(job_id)  # fails unless the cluster knows it


def _print_states(ray: Any, ids: Sequence[str]) -> None:
    actors = _actors(ray, ids)
    pending = {actor.answer.remote(): job_id for job_id, actor in actors.items()}
    ready, _ = (
        ray.wait([*pending], num_returns=len(pending), timeout=ANSWER_SECONDS)
        if pending
        else ((), ())
    )
    for answer, job_id in pending.items():
        if answer not in ready:
            print(job_id, "queued")
            continue
        with suppress(ray.exceptions.RayError):  # it has just ended
            ray.get(answer)
            print(job_id, "running")


def _end_actor(ray: Any, job: str) -> None:
    for actor in _actors(ray, [job]).values():
        ready, _ = ray.wait([actor.stop.remote()], timeout=ANSWER_SECONDS)
        if not ready:  # it has not started
            ray.kill(actor, no_restart=True)


def _actors(ray: Any, ids: Sequence[str]) -> dict[str, Any]:
    """Returns id -> actor, of the jobs that the cluster knows."""
    found = dict[str, Any]()
    for job in ids:
        with suppress(ValueError):  # there is none
            found[job] = ray.get_actor(job.partition("@")[0])
    return found


if __name__ == "__main__":
    sys.exit(main())
