"""Carriers for tests: hosts within this process, and hosts that follow a script."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from gymnast.collect.shards.carrier import Answer, Lost
from gymnast.collect.shards.host import Host
from gymnast.collect.shards.orders import Order


class HereCarrier:
    """Implements `Carrier` with hosts in this process. Everything is pickled on the way, and hosts answer in
    a random order. Messages whose number is in `lost_before` never reach their host, which dies; those in
    `lost_after` are carried out, and the host dies with its answer."""

    def __init__(
        self,
        seed: int = 0,
        lost_before: Collection[int] = (),
        lost_after: Collection[int] = (),
    ) -> None:
        self.chance = random.Random(seed)
        self.lost_before, self.lost_after = set(lost_before), set(lost_after)
        self.hosts: dict[int, Host] = {}
        self.waiting: list[tuple[int, bytes]] = []
        self.sent = 0
        self.started: list[int] = []
        self.closed = False

    def start(self, host: int) -> None:
        self.end(host)
        self.hosts[host] = Host()
        self.started.append(host)

    def share(self, parameters: dict[str, np.ndarray]) -> bytes:
        return pickle.dumps(parameters)

    def send(self, host: int, orders: Sequence[Order], parameters: object = None) -> None:
        assert host in self.hosts, f"host {host} is not running"
        assert host not in [other for other, _ in self.waiting], f"host {host} has orders already"
        self.waiting.append((host, pickle.dumps((tuple(orders), parameters))))

    def receive(self, timeout: float) -> Answer | None:
        if not self.waiting:
            return None
        host, message = self.waiting.pop(self.chance.randrange(len(self.waiting)))
        self.sent += 1
        if self.sent in self.lost_before:
            del self.hosts[host]
            return Answer(host, Lost("it was killed before its work"))
        orders, shared = pickle.loads(message)
        parameters = None if shared is None else pickle.loads(shared)
        value = pickle.dumps(self.hosts[host].carry_out(orders, parameters))
        if self.sent in self.lost_after:
            del self.hosts[host]
            return Answer(host, Lost("it was killed after its work"))
        return Answer(host, pickle.loads(value), len(value))

    def pid(self, host: int) -> int | None:
        return host + 1 if host in self.hosts else None

    def describe(self) -> str:
        return ""

    def end(self, host: int) -> None:
        self.hosts.pop(host, None)
        self.waiting = [(other, message) for other, message in self.waiting if other != host]

    def close(self) -> None:
        for host in self.hosts.values():
            host.close()
        self.hosts.clear()
        self.closed = True


class ScriptedCarrier:
    """Implements `Carrier` without hosts: `answer(host, attempt, orders)` returns what the `attempt`-th
    process of a host answers to orders, `Lost`, or None for a host that never answers. Hosts answer from the
    last to the first."""

    def __init__(self, answer: Callable[[int, int, tuple[Any, ...]], Any], away: str = "") -> None:
        """`away`: why hosts cannot be started; empty if they can."""
        self.answer, self.away = answer, away
        self.attempts: dict[int, int] = {}
        self.waiting: list[tuple[int, tuple[Any, ...]]] = []
        self.log: list[tuple[Any, ...]] = []
        self.idle_losses: list[Answer] = []
        """Losses that are reported before any answer."""

    def start(self, host: int) -> None:
        self.attempts[host] = self.attempts.get(host, 0) + 1
        self.log.append(("start", host))

    def share(self, parameters: Any) -> Any:
        return parameters

    def send(self, host: int, orders: Sequence[Any], parameters: object = None) -> None:
        self.log.append(("send", host, tuple(orders), parameters))
        self.waiting.append((host, tuple(orders)))

    def receive(self, timeout: float) -> Answer | None:
        if self.idle_losses:
            return self.idle_losses.pop(0)
        for place in reversed(range(len(self.waiting))):
            host, orders = self.waiting[place]
            value = self.answer(host, self.attempts.get(host, 0), orders)
            if value is not None:
                del self.waiting[place]
                return Answer(host, value, n_bytes=10 * host)
        return None

    def pid(self, host: int) -> int | None:
        return None if self.away else host + 1

    def describe(self) -> str:
        return self.away

    def end(self, host: int) -> None:
        self.log.append(("end", host))
        self.waiting = [one for one in self.waiting if one[0] != host]

    def close(self) -> None: ...
