"""Whole runs in a Ray cluster: each job is a detached actor that trains in a process of its own.

python -m gymnast.jobs.remote.ray_jobs submit ADDRESS ID LOG REQUEUE ARGV...   prints ID
python -m gymnast.jobs.remote.ray_jobs states ADDRESS IDS                      prints `ID STATE` per job
python -m gymnast.jobs.remote.ray_jobs cancel ADDRESS ID

An empty ADDRESS is $RAY_ADDRESS, or the cluster that this machine belongs to. A detached actor outlives the
process that created it. With --requeue, Ray creates it again elsewhere when its node dies, and it then
continues the run from its last checkpoint. Ray unpickles what it receives: use it in trusted networks only.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

NAMESPACE = "gymnast"
ANSWER_SECONDS = 2.0
"""Time in which an actor that has started answers; one that has not waits for free cores."""
CONNECT_SECONDS = 10.0
"""Deadline for a connection to the head of the cluster."""
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
        ray = _connect(address)
    except ImportError:
        print("Ray is not installed: pip install 'gymnast[ray]'", file=sys.stderr)
        return 1
    except (OSError, RuntimeError, ValueError) as error:
        where = address or os.environ.get("RAY_ADDRESS") or "this machine"
        print(f"no Ray cluster answers at {where}: {str(error).splitlines()[0]}", file=sys.stderr)
        print("start one with `ray start --head`, or name it: ray:HOST:PORT", file=sys.stderr)
        return 1
    COMMANDS[command](ray, *arguments)
    return 0


def _connect(address: str) -> Any:
    """Returns the module `ray`, connected to the cluster at this address."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # no warning about GPUs
    import ray

    address = address or os.environ.get("RAY_ADDRESS") or _address_of_this_machine()
    _require_listener(address)
    ray.init(
        address=address,
        namespace=NAMESPACE,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    return ray


def _address_of_this_machine() -> str:
    """Returns the address of the cluster that `ray start` made this machine a part of. Raises
    ConnectionError if there is none."""
    folder = Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray"
    try:
        return (folder / "ray_current_cluster").read_text().strip()
    except OSError:
        raise ConnectionError("it belongs to no cluster") from None


def _require_listener(address: str) -> None:
    """Raises OSError if nobody listens at HOST:PORT. Ray itself takes minutes to notice that; and the file
    that names the cluster of this machine stays when the cluster is killed."""
    host, separator, port = address.rpartition(":")
    if separator and port.isdigit() and "//" not in address:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()


def _submit(ray: Any, job_id: str, log: str, requeue: str, *argv: str) -> None:
    again = requeue == "--requeue"
    actor = ray.remote(JobActor).options(
        name=job_id, lifetime="detached", num_cpus=1, max_restarts=-1 if again else 0
    )
    actor.remote(list(argv), log, again)
    ray.get_actor(job_id)  # fails unless the cluster knows it
    print(job_id)


def _states(ray: Any, ids: str) -> None:
    actors = _actors(ray, ids.split(","))
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


def _cancel(ray: Any, job_id: str) -> None:
    for actor in _actors(ray, [job_id]).values():
        ready, _ = ray.wait([actor.stop.remote()], timeout=ANSWER_SECONDS)
        if not ready:  # it has not started
            ray.kill(actor, no_restart=True)


def _actors(ray: Any, ids: Sequence[str]) -> dict[str, Any]:
    """Returns id -> actor, of the jobs that the cluster knows."""
    found = dict[str, Any]()
    for job_id in ids:
        with suppress(ValueError):  # there is none
            found[job_id] = ray.get_actor(job_id)
    return found


COMMANDS = {"submit": _submit, "states": _states, "cancel": _cancel}

if __name__ == "__main__":
    sys.exit(main())
