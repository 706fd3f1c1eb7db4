"""Sends orders to hosts and receives their answers; replaces hosts that die or do not answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
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
Compose = Callable[[bool], tuple[Orders, object]]
"""Returns the orders for a host, and the parameters of the policy as the carrier sends them. The argument is
True for a host that has replaced another, which has to open its environments and to load its state first."""


@dataclass
class _Awaited:
    """A host whose answer is awaited."""

    host: int
    compose: Compose
    sent: float
    """Time at which it got its orders."""
    running_since: float
    """Time since which it could carry them out: a host that waits for a free CPU is not late."""
    lost: float | None = None
    """Time at which the first host with these orders was lost; None if it is still the first."""
    deaths: int = 0
    """Number of hosts that died with these orders."""
    reason: str = "it has not started"
    """The reason why the last one is missing."""
    start_at: float | None = None
    """Time at which its successor is to be started; None if it was."""


class Dispatch:
    """The messages between the training process and its hosts. A host that is lost is replaced by another,
    which gets the same orders: whoever receives answers sees only that they take longer."""

    def __init__(
        self,
        carrier: Carrier,
        cfg: CollectConfig,
        opening: Callable[[int], Orders],
        reports: HostReports,
    ) -> None:
        """`opening(host)` returns the orders that prepare a new host."""
        self._carrier, self._cfg, self._opening, self._reports = carrier, cfg, opening, reports
        self._awaited: dict[int, _Awaited] = {}
        self._gone: dict[int, Lost] = {}
        """Hosts that were lost after their last answer, while they had no orders."""

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
        open the environments themselves. Raises what `receive` raises."""

        def compose(host: int, own: Orders, is_new: bool) -> tuple[Orders, object]:
            setup = (*self._opening(host), *before(host)) if is_new and not opens else ()
            return (*setup, *own), parameters

        answers: dict[int, list[Any]] = {host: [] for host, own in enumerate(orders) if not own}
        for host, own in enumerate(orders):
            if own:
                self.send(host, partial(compose, host, own))
        while len(answers) < len(orders):
            answer = self.receive(POLL_SECONDS)
            if answer is not None:
                assert isinstance(answer.value, list)
                answers[answer.host] = answer.value
        return [answers[host] for host in range(len(orders))]

    def send(self, host: int, compose: Compose) -> None:
        """Sends a host the orders that `compose` returns, which is called again for every successor."""
        now = time.monotonic()
        self._awaited[host] = one = _Awaited(host, compose, now, now)
        if host in self._gone:
            self._record_loss(one, self._gone.pop(host))
            self._start_successors()
        else:
            self._carrier.send(host, *compose(False))

    def receive(self, timeout: float) -> Answer | None:
        """Returns the next answer; None if there is none within `timeout` seconds, or if something else
        happened. Replaces hosts that are lost or late.

        Raises the error that an order has ended with, or HostsMissing if a host stays away longer than
        `collect.wait` or if `MAX_DEATHS` die with the same orders."""
        answer = self._carrier.receive(self._until_next_start(timeout))
        if answer is not None and isinstance(answer.value, Lost):
            if answer.host in self._awaited:
                self._record_loss(self._awaited[answer.host], answer.value)
            else:
                self._gone[answer.host] = answer.value
            answer = None
        elif answer is not None:
            self._record_answer(answer)
        # Also after an answer: where hosts do not wait for each other, one always answers.
        self._end_late_hosts()
        self._give_up_if_away()
        self._start_successors()
        return answer

    def _record_answer(self, answer: Answer) -> None:
        """Records that a host has answered. Raises its answer if that is an error."""
        if isinstance(answer.value, GymnastError):
            raise answer.value
        one = self._awaited.pop(answer.host)
        self._reports.answered(one.host, answer.n_bytes)
        if one.lost is not None:
            self._reports.replaced(one.host, time.monotonic() - one.lost)

    # ---- hosts that are lost -------------------------------------------------------------------

    def _record_loss(self, one: _Awaited, loss: Lost) -> None:
        """Records the loss of a host, and when its successor is to be started. Raises HostsMissing if too
        many have died with the same orders."""
        if one.lost is None or loss.has_worked:  # attempts to start its successor are not reported
            self._reports.lost(one.host, loss.reason)
        now = time.monotonic()
        one.lost, one.reason = one.lost or now, loss.reason
        one.deaths += loss.has_worked
        if one.deaths >= MAX_DEATHS:
            what = f"host {one.host} died {one.deaths} times with the same orders: {loss.reason}"
            fix = "see whether the environment does this to its process, then resume the run"
            events = self._reports.take_events()
            raise HostsMissing(what, at="collect.hosts", fix=fix, events=events)
        one.start_at = now if loss.has_worked else now + RETRY_SECONDS

    def _until_next_start(self, timeout: float) -> float:
        """Returns `timeout`, or the seconds until a successor is to be started if that is sooner."""
        planned = [one.start_at for one in self._awaited.values() if one.start_at is not None]
        return max(min(timeout, min(planned) - time.monotonic()), 0.0) if planned else timeout

    def _start_successors(self) -> None:
        """Starts the successors that are due, and sends them their orders."""
        for one in self._awaited.values():
            if one.start_at is not None and time.monotonic() >= one.start_at:
                self._carrier.start(one.host)
                self._carrier.send(one.host, *one.compose(True))
                one.running_since, one.start_at = time.monotonic(), None

    def _is_running(self, one: _Awaited) -> bool:
        return one.start_at is None and self._carrier.pid(one.host) is not None

    def _end_late_hosts(self) -> None:
        """Ends the hosts that have not answered in time."""
        for one in self._awaited.values():
            now = time.monotonic()
            if not self._is_running(one):
                one.running_since = now
            elif now - one.running_since > self._cfg.timeout:
                self._carrier.end(one.host)
                why = f"it did not answer within {self._cfg.timeout:g} s (collect.timeout)"
                self._record_loss(one, Lost(why))

    def _give_up_if_away(self) -> None:
        """Raises HostsMissing if a host cannot be started for too long."""
        for one in self._awaited.values():
            away = time.monotonic() - (one.lost or one.sent)
            if away > self._cfg.wait and not self._is_running(one):
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
