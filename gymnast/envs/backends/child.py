"""A process of ours that runs environments beside training, at the other end of a socket. It never
outlives the process that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys

from gymnast.processes import guard

PR_SET_PDEATHSIG = 1


def start(module: str, theirs: socket.socket) -> subprocess.Popen[bytes]:
    """`python -m MODULE FD PID`, on one thread; what it prints comes by its `stdout`. It ends with the
    thread that calls this."""
    child = subprocess.Popen(
        [sys.executable, "-m", module, str(theirs.fileno()), str(os.getpid())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    guard.know(child.pid)
    return child


def begin() -> int:
    """Called by the module that was started: the file descriptor of its end of the socket. Signals are
    for the trainer; on Linux the kernel kills this process when that ends, even while it hangs."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(sys.argv[2]):  # it ended before that
            os._exit(1)
    return int(sys.argv[1])
