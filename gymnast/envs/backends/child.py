"""Child processes that run environments for the trainer, connected by a socket.

A child never outlives the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys

from gymnast.processes import guard

PR_SET_PDEATHSIG = 1


def start(module: str, child_socket: socket.socket) -> subprocess.Popen[bytes]:
    """Starts `python -m MODULE FD PID`, limited to one compute thread, and returns the process. Its output
    can be read from its `stdout`. It ends together with the calling thread (see `setup`)."""
    child = subprocess.Popen(
        [sys.executable, "-m", module, str(child_socket.fileno()), str(os.getpid())],
        pass_fds=[child_socket.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    guard.register_child(child.pid)
    return child


def setup() -> int:
    """Sets up the child and returns the file descriptor of its end of the socket.

    To be called first by the module that was started. The child ignores signals that are meant for the
    trainer; on Linux the kernel kills it when the trainer ends, even while the child hangs.
    """
    # Ctrl-C reaches the whole process group. The trainer decides what to do and then ends its children.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        # The kernel sends this when the *thread* that started the child ends, not only the process.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(sys.argv[2]):  # the parent ended before prctl took effect
            os._exit(1)
    return int(sys.argv[1])
