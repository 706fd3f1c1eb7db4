"""The hosts of a run: one per shard, all with the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gymnast.collect.copies import CopyRange
from gymnast.collect.shards.carrier import Carrier
from gymnast.collect.shards.dispatch import Dispatch
from gymnast.collect.shards.env_orders import EnvsOpened, OpenEnvs
from gymnast.collect.shards.orders import Loaded, Open, Opened, Order
from gymnast.collect.shards.reports import HostReports
from gymnast.compiled import use_instruction_set
from gymnast.config.config import Config
from gymnast.errors import GymnastError, HostsMissing
from gymnast.hosts import HostFacts, refuse_differences


class HostGroup:
    """The hosts of a run, and the messages to them."""

    def __init__(
        self,
        cfg: Config,
        carrier: Carrier,
        open_order: Callable[[Config, CopyRange], Open | OpenEnvs],
    ) -> None:
        """`open_order` returns the order with which a host opens the environments of a shard."""
        self._cfg, self._open_order, self.carrier = cfg, open_order, carrier
        self.shards = CopyRange.divide(cfg.env.n_envs, cfg.collect.hosts)
        self.reports = HostReports(len(self.shards))
        self.dispatch = Dispatch(carrier, cfg.collect, self.opening, self.reports)
        self.instruction_set = ""
        """Instruction set of the compiled kernels, the same on all hosts; empty if they have none, or if no
        policy acts on hosts."""
        self._here = HostFacts.for_env(cfg.env.id)

    @contextmanager
    def opened(self) -> Iterator[list[Any]]:
        """Starts the hosts and yields what each says about its environments. Raises what opening them raises,
        and GymnastError for hosts that differ from this one. Ends the hosts if that, or what is done with the
        answers, fails."""
        try:
            answers = [answer[-1] for answer in self.dispatch.open(len(self.shards))]
            for host, one in enumerate(answers):
                self.reports.differs(host, refuse_differences(self._here, one.facts))
            yield answers
        except BaseException:  # Ctrl-C too: hosts must not stay behind
            self.carrier.close()
            raise

    def opening(self, host: int) -> tuple[Order, ...]:
        """Returns the orders with which a new host opens the environments of its shard."""
        return (self._open_order(self._cfg, self.shards[host]),)

    def use_common_instruction_set(self, opened: Sequence[Opened]) -> None:
        """Makes all hosts and this process compute with the best instruction set that all of them have."""
        common = [
            name
            for name in opened[0].instruction_sets
            if all(name in one.instruction_sets for one in opened)
        ]
        self.instruction_set = common[-1] if common else ""
        use_instruction_set(self.instruction_set)

    def check_successor(self, host: int, answers: Sequence[Any]) -> None:
        """Checks the answers of a host, which may have replaced another. Raises HostsMissing if it would
        compute other numbers, and reports the episodes that it could not restore."""
        for answer in answers:
            if isinstance(answer, Opened | EnvsOpened):
                self._compare(host, answer)
            elif isinstance(answer, Loaded) and answer.failed:
                first = self.shards[host].first
                failed = {first + copy: reason for copy, reason in answer.failed.items()}
                self.reports.restarted(failed)

    def _compare(self, host: int, opened: Opened | EnvsOpened) -> None:
        """Raises HostsMissing if a host cannot continue the work of another."""
        try:
            self.reports.differs(host, refuse_differences(self._here, opened.facts))
            needed = self.instruction_set
            if needed and isinstance(opened, Opened) and needed not in opened.instruction_sets:
                what = f"{opened.facts.host} lacks {needed}, with which this run computes"
                raise GymnastError(what, fix="resume the run, which then uses what all hosts have")
        except GymnastError as problem:
            events = self.reports.take_events()
            raise HostsMissing(
                problem.message, at="collect.hosts", fix=problem.fix, events=events
            ) from None
