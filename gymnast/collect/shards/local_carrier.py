"""Hosts as child processes on this machine, connected by sockets."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait

import numpy as np

from gymnast.collect.shards.carrier import STARTED, Answer, Lost
from gymnast.collect.shards.orders import Order
from gymnast.envs.backends.child import Child

Array = np.ndarray
END_SECONDS = 2.0
"""Seconds that a host may take to close its environments."""


class LocalCarrier:
    """Implements `Carrier` with one child process per host."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        """`on_output` is called with each line that environments print."""
        self._on_output = on_output
        self._hosts: dict[int, tuple[Child, Connection]] = {}
        self._started: set[int] = set()
        """Hosts whose program has been loaded, which takes seconds on a busy machine."""
        self._lost: list[Answer] = []
        """Hosts that could not be started or reached, to be reported by `receive`."""

    def start(self, host: int) -> None:
        self.end(host)
        try:
            child = Child("gymnast.collect.shards.process", self._on_output)
        except OSError as problem:
            why = f"its process could not be started: {problem}"
            self._lost.append(Answer(host, Lost(why, has_worked=False)))
            return
        self._hosts[host] = child, Connection(child.socket.detach())

    def share(self, parameters: dict[str, Array]) -> bytes:
        return pickle.dumps(parameters, protocol=5)

    def send(self, host: int, orders: Sequence[Order], parameters: object = None) -> None:
        if host not in self._hosts:
            return  # it could not be started, which `receive` reports
        _, connection = self._hosts[host]
        try:
            connection.send_bytes(pickle.dumps((tuple(orders), parameters), protocol=5))
        except OSError:
            self._lost.append(self._loss(host))

    def receive(self, timeout: float) -> Answer | None:
        if self._lost:
            return self._lost.pop(0)
        by_connection = {connection: host for host, (_, connection) in self._hosts.items()}
        ready = wait(list(by_connection), timeout)
        for connection in ready:
            assert isinstance(connection, Connection)
            host = by_connection[connection]
            try:
                message = connection.recv_bytes()
            except (EOFError, OSError):
                return self._loss(host)
            if message == STARTED:
                self._started.add(host)
                return None
            return Answer(host, pickle.loads(message), len(message))
        if not by_connection:
            time.sleep(min(timeout, 0.1))
        return None

    def pid(self, host: int) -> int | None:
        return self._hosts[host][0].pid if host in self._started else None

    def describe(self) -> str:
        return ""

    def end(self, host: int) -> None:
        if host in self._hosts:
            child, connection = self._hosts.pop(host)
            self._started.discard(host)
            connection.close()
            child.end()

    def close(self) -> None:
        # All connections first, so that the hosts close their environments at the same time.
        for _, connection in self._hosts.values():
            connection.close()
        deadline = time.monotonic() + END_SECONDS
        for child, _ in self._hosts.values():
            child.end(max(deadline - time.monotonic(), 0.0))
        self._hosts.clear()
        self._started.clear()

    def _loss(self, host: int) -> Answer:
        """Ends a host that has closed its connection, and returns what is known about its end."""
        child, connection = self._hosts.pop(host)
        self._started.discard(host)
        connection.close()
        code = child.wait(END_SECONDS)
        child.end()
        how = "it closed its connection" if code is None else _exit_text(code)
        printed = child.last_output()
        return Answer(host, Lost(f"{how}; its last output:\n{printed}" if printed else how))


def _exit_text(code: int) -> str:
    return (
        f"its process was killed by signal {-code}"
        if code < 0
        else f"its process exited with {code}"
    )
