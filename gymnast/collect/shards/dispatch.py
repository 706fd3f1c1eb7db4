"""Sends orders to all hosts and waits for the answers; replaces hosts that die or do not answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gymnast.collect.shards.carrier import Answer, Carrier, Lost
from gymnast.collect.shards.orders import Order
from gymnast.collect.shards.reports import HostReports
from gymnast.config.sections.collect import CollectConfig
from gymnast.errors import GymnastError, HostsMissing

MAX_DEATHS = 5
"""Hosts that may die one after the other with the same orders: these orders seem to kill them."""
POLL_SECONDS = 1.0
"""Longest time between two checks of the deadlines."""
RETRY_SECONDS = 0.5
"""Time between two attempts to start a host that cannot be started."""

Orders = tuple[Order, ...]


@dataclass
class _Awaited:
    """A host whose answer is awaited."""

    host: int
    orders: Orders
    sent: float
    """Time at which it got its orders."""
    lost: float | None = None
    """Time at which the first host with these orders was lost; None if it is still the first."""
    deaths: int = 0
    """Number of hosts that died with these orders."""
    reason: str = "it has not started"
    """The reason why the last one is missing."""


class Dispatch:
    """The messages between the training process and its hosts."""

    def __init__(
        self,
        carrier: Carrier,
        cfg: CollectConfig,
        opening: Callable[[int], Orders],
        reports: HostReports,
    ) -> None:
        """`opening(host)` returns the orders that prepare a new host."""
        self._carrier, self._cfg, self._opening, self._reports = carrier, cfg, opening, reports
        self._gone: dict[int, Lost] = {}
        """Hosts that were lost after their last answer, while others were still at work."""

    def open(self, hosts: int) -> list[list[Any]]:
        """Starts all hosts and returns their answers to the opening orders."""
        for host in range(hosts):
            self._carrier.start(host)
        return self.all([self._opening(host) for host in range(hosts)], lambda _: (), opens=True)

    def all(
        self,
        orders: Sequence[Orders],
        before: Callable[[int], Orders],
        parameters: object = None,
        *,
        opens: bool = False,
    ) -> list[list[Any]]:
        """Sends each host its orders, and returns the answers in the order of the hosts, whatever order they
        arrive in. A host without orders is left alone, and its answer is empty. A host that is lost is
        replaced: its successor opens the environments, gets the orders `before(host)`, which bring it to the
        state of the lost one, and then the same orders; its answers are to all of them. `opens`: the orders
        open the environments themselves.

        Raises the error that an order has ended with, or HostsMissing if a host stays away longer than
        `collect.wait` or if `MAX_DEATHS` die with the same orders."""
        answers: dict[int, list[Any]] = {host: [] for host, own in enumerate(orders) if not own}
        awaited: dict[int, _Awaited] = {}
        for host, own in enumerate(orders):
            if own:
                awaited[host] = _Awaited(host, own, time.monotonic())
                if host not in self._gone:
                    self._carrier.send(host, own, parameters)
        while awaited:
            answer = self._next(awaited)
            self._give_up_if_away(awaited)
            if answer is None:
                continue
            one, value = awaited[answer.host], answer.value
            if isinstance(value, GymnastError):
                raise value
            if isinstance(value, Lost):
                self._record_loss(one, value)
                setup = () if opens else (*self._opening(one.host), *before(one.host))
                self._carrier.start(one.host)
                self._carrier.send(one.host, (*setup, *one.orders), parameters)
                one.sent = time.monotonic()
                continue
            answers[one.host] = value
            del awaited[one.host]
            self._reports.answered(one.host, answer.n_bytes)
            if one.lost is not None:
                self._reports.replaced(one.host, time.monotonic() - one.lost)
        return [answers[host] for host in range(len(orders))]

    def _next(self, awaited: dict[int, _Awaited]) -> Answer | None:
        """Returns the next answer, or loss, of a host that has orders; None if there is none yet."""
        for host in awaited:
            if host in self._gone:
                return Answer(host, self._gone.pop(host))
        answer = self._carrier.receive(POLL_SECONDS)
        if answer is not None and answer.host not in awaited:
            if isinstance(answer.value, Lost):
                self._gone[answer.host] = answer.value
            return None
        return answer or self._end_late_host(awaited)

    def _record_loss(self, one: _Awaited, loss: Lost) -> None:
        """Records the loss of a host. Raises HostsMissing if too many have died with the same orders."""
        if one.lost is None or loss.has_worked:  # attempts to start its successor are not reported
            self._reports.lost(one.host, loss.reason)
        one.lost, one.reason = one.lost or time.monotonic(), loss.reason
        one.deaths += loss.has_worked
        if one.deaths >= MAX_DEATHS:
            what = f"host {one.host} died {one.deaths} times with the same orders: {loss.reason}"
            fix = "see whether the environment does this to its process, then resume the run"
            events = self._reports.take_events()
            raise HostsMissing(what, at="collect.hosts", fix=fix, events=events)
        if not loss.has_worked:
            time.sleep(RETRY_SECONDS)

    def _end_late_host(self, awaited: dict[int, _Awaited]) -> Answer | None:
        """Ends a host that has not answered in time, and returns it as lost; None if there is none."""
        for host, one in awaited.items():
            late = time.monotonic() - one.sent > self._cfg.timeout
            if late and self._carrier.pid(host) is not None:
                self._carrier.end(host)
                why = f"it did not answer within {self._cfg.timeout:g} s (collect.timeout)"
                return Answer(host, Lost(why))
        return None

    def _give_up_if_away(self, awaited: dict[int, _Awaited]) -> None:
        """Raises HostsMissing if a host cannot be started for too long."""
        for one in awaited.values():
            away = time.monotonic() - (one.lost or one.sent)
            if away > self._cfg.wait and self._carrier.pid(one.host) is None:
                what = (
                    f"host {one.host} has been away for {away:.0f} s (collect.wait): {one.reason}"
                )
                facts = self._carrier.describe()
                raise HostsMissing(
                    f"{what}; {facts}" if facts else what,
                    at="collect.hosts",
                    fix="start the hosts again, or resume the run on fewer: --set collect.hosts=N",
                    events=self._reports.take_events(),
                )
