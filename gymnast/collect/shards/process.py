"""A host as a child process: `python -m gymnast.collect.shards.process FD PID`.

FD is its end of the socket; when the training process closes the other end, the host ends.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from gymnast.collect.shards.carrier import STARTED
from gymnast.collect.shards.host import Host
from gymnast.envs.backends import child


def main() -> None:
    """Carries out orders until the training process closes the connection."""
    connection = Connection(child.setup())
    faulthandler.enable()  # prints the stack after a crash
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    # A process that an environment starts must not keep the connection open after this one has died.
    os.set_inheritable(connection.fileno(), False)
    host = Host()
    try:
        connection.send_bytes(STARTED)
        while True:
            orders, shared = pickle.loads(connection.recv_bytes())
            parameters = None if shared is None else pickle.loads(shared)
            answer = host.carry_out(orders, parameters)
            connection.send_bytes(pickle.dumps(answer, protocol=5))
    except (EOFError, OSError):
        pass  # the training process has closed the connection, or was killed
    finally:
        with suppress(Exception):
            host.close()


if __name__ == "__main__":
    main()
    os._exit(0)  # skips the interpreter's own shutdown: the training process waits
