"""The Ray cluster that gymnast starts on this machine for jobs, if there is no other. It ends by itself.

python -m gymnast.jobs.remote.ray_cluster CPUS IDLE_SECONDS LOCK      the owner of such a cluster

The owner is a process of its own, because the cluster outlives the command that submits the first job. It
ends when there was no job for IDLE_SECONDS, and the cluster ends with it, however that happens. Others find
the cluster by a file in the state directory with its address and its token, which only the user can read. The
owner holds a lock on that file, which the kernel releases with the owner: a file without one is out of date.
LOCK is the inherited descriptor of another lock, which it holds until the cluster can be found, so that
nobody starts a second one, even if the command is killed that started the first.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gymnast.errors import CommandFailed, GymnastError
from gymnast.processes import guard
from gymnast.processes.local_ray import LOOPBACK, TOKEN, load_ray, require_head, start_cluster
from gymnast.records import from_json
from gymnast.runs import document, lock
from gymnast.settings import state_directory

NAMESPACE = "gymnast"
"""Namespace of the actors that train jobs."""
AUTH_MODE = "RAY_AUTH_MODE"
OBJECT_STORE_BYTES = 80_000_000
"""Jobs write files and exchange nothing through Ray, so this is about the least that Ray accepts."""
POLL_SECONDS = 0.5
"""Seconds between two checks of the owner whether there are jobs."""
_READY = "ready"
"""The line that an owner prints when its cluster accepts jobs."""


@dataclass(frozen=True)
class OwnCluster:
    """A cluster that gymnast has started."""

    address: str
    token: str
    pid: int
    """Process id of its owner."""
    folder: str
    """Directory of Ray's files."""
    cpus: int
    """Number of jobs that train at once."""
    idle_seconds: float
    """Time without jobs after which it ends."""

    def prepare_connection(self) -> None:
        """Lets this process connect to the cluster. To be called before Ray is imported."""
        os.environ.pop(f"{TOKEN}_PATH", None)
        os.environ.update({TOKEN: self.token, AUTH_MODE: "token", **LOOPBACK})


@contextmanager
def hold_cluster() -> Iterator[OwnCluster | None]:
    """Yields the cluster of this machine, None if there is none. It does not end within the block because
    it has no jobs."""
    with _locked(fcntl.LOCK_SH):
        yield find_cluster()


@contextmanager
def hold_or_start(cpus: int, idle_seconds: float) -> Iterator[OwnCluster]:
    """Yields the cluster of this machine, which is started with `cpus` cores if there is none, and does not
    end within the block. Raises CommandFailed if it cannot be started."""
    while True:
        with hold_cluster() as cluster:
            if cluster is not None:
                yield cluster
                return
        with _locked(fcntl.LOCK_EX) as held:  # of several processes that found none, one starts it
            if find_cluster() is None:
                _start_owner(cpus, idle_seconds, held)


def find_cluster() -> OwnCluster | None:
    """Returns the cluster of this machine, None if there is none. Files of clusters that were killed are
    removed."""
    for file in _directory().glob("*.json"):
        if not lock.is_locked(file):
            file.unlink(missing_ok=True)  # no other owner ever uses the same name
            continue
        with suppress(FileNotFoundError):  # it has just ended
            return from_json(OwnCluster, document.loads(file.read_bytes()))
    return None


def remote_id(job_id: str) -> str:
    """Returns the id of a job in the cluster of this machine."""
    return f"{job_id}@{socket.gethostname()}"


def main() -> int:
    """Starts a cluster and ends it when it has no jobs; returns the exit code."""
    cpus, idle_seconds, held = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(held, False)  # Ray's processes must not keep it
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closed terminal does not end jobs
    file = folder = ray = None
    try:
        ray = load_ray()
        with guard.watch():
            folder = start_cluster(
                ray, cpus=cpus, object_store_bytes=OBJECT_STORE_BYTES, namespace=NAMESPACE
            )
        address, token = ray.get_runtime_context().gcs_address, os.environ[TOKEN]
        file = _publish(OwnCluster(address, token, os.getpid(), str(folder), cpus, idle_seconds))
        os.close(held)
        _report_ready()
        _wait_until_idle(ray, file, idle_seconds)
    except (GymnastError, OSError, RuntimeError, ValueError) as problem:
        with suppress(OSError):  # nobody reads it any more
            print(str(problem).strip().partition("\n")[0], flush=True)
        return 1
    finally:
        if file is not None:
            file.unlink(missing_ok=True)
        if ray is not None:
            ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _wait_until_idle(ray: Any, file: Path, idle_seconds: float) -> None:
    """Returns when there was no job for `idle_seconds` and none can be submitted any more. Raises OSError if
    the head of the cluster was killed."""
    used = time.monotonic()
    while True:
        with suppress(TimeoutError):  # the machine is busy; nobody answers for a killed head
            require_head(ray)
        guard.report_descendants()  # so that the guardian ends them, should this process be killed
        if ray.util.list_named_actors():
            used = time.monotonic()
        elif time.monotonic() - used >= idle_seconds and _withdraw(ray, file):
            return
        time.sleep(POLL_SECONDS)


def _withdraw(ray: Any, file: Path) -> bool:
    """Removes the file by which the cluster is found. Returns False if somebody uses the cluster."""
    try:
        with _locked(fcntl.LOCK_EX | fcntl.LOCK_NB):
            if ray.util.list_named_actors():  # it was submitted in the meantime
                return False
            file.unlink(missing_ok=True)
            return True
    except BlockingIOError:
        return False


def _start_owner(cpus: int, idle_seconds: float, held: int) -> None:
    """Starts the owner of a cluster and returns when the cluster accepts jobs. `held`: descriptor of the lock
    of the clusters of this machine. Raises CommandFailed."""
    environ = guard.detached_environ() | {AUTH_MODE: "token"}
    for variable in (TOKEN, f"{TOKEN}_PATH"):  # it makes a token of its own
        environ.pop(variable, None)
    module = "gymnast.jobs.remote.ray_cluster"
    owner = subprocess.Popen(
        [sys.executable, "-P", "-m", module, str(cpus), str(idle_seconds), str(held)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd="/",
        env=environ,
        start_new_session=True,
        pass_fds=[held],
    )
    assert owner.stdout is not None
    last = "it ended without a message"
    with owner.stdout:
        for line in owner.stdout:
            if line.strip() == _READY:
                owner.returncode = 0  # it outlives this process
                return
            last = line.strip() or last
    owner.wait()
    fix = "see whether `ray start --head` works, or train without Ray: --detach"
    raise CommandFailed(f"no Ray cluster can be started on this machine: {last}", fix=fix)


def _report_ready() -> None:
    """Prints that the cluster accepts jobs. Nobody reads what the owner prints afterwards."""
    with suppress(
        BrokenPipeError
    ):  # the command was ended; the cluster ends too if no other one uses it
        print(_READY, flush=True)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _publish(cluster: OwnCluster) -> Path:
    """Writes the file by which a cluster is found, which this process then keeps locked until it ends."""
    handle, draft = tempfile.mkstemp(
        prefix=".draft-", dir=_directory()
    )  # only the user can read it
    fcntl.flock(handle, fcntl.LOCK_EX)
    lock.close_on_fork(handle)
    os.write(handle, document.dumps(asdict(cluster)).encode())
    file = _directory() / f"{Path(cluster.folder).name}.json"
    os.rename(draft, file)  # the lock belongs to the open file, so it moves along
    return file


@contextmanager
def _locked(operation: int) -> Iterator[int]:
    """Holds the lock of the clusters of this machine, and yields its descriptor. Raises BlockingIOError if
    `operation` has LOCK_NB and another process holds it."""
    handle = os.open(_directory() / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, operation)
        yield handle
    finally:
        os.close(handle)


def _directory() -> Path:
    """Returns the directory with the files of clusters: one per host, since hosts may share a home
    directory."""
    folder = state_directory() / "ray" / socket.gethostname()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
