"""A process of ours that runs environments beside training, at the other end of a socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys


def start(module: str, theirs: socket.socket) -> subprocess.Popen[bytes]:
    """`python -m MODULE FD`, on one thread; what it prints comes by its `stdout`."""
    return subprocess.Popen(
        [sys.executable, "-m", module, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
