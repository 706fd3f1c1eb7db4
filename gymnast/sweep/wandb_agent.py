"""The agent of a W&B sweep: every run that the server asks for becomes an ordinary run here.

One run trains at a time, because the server sends the next command when none is running; several agents, on
one machine or many, share the work. Runs train in background processes and report to W&B themselves
(`metrics/sinks/wandb.py`), so that a killed agent loses none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from gymnast.config.plain_value import PlainValue
from gymnast.errors import GymnastError
from gymnast.sweep.wandb_server import Command, ServerError, SweepDeleted

HEARTBEAT_SECONDS = 5.0
"""Time between two heartbeats; the client that is installed waits as long."""
OUTAGE_SECONDS = 900.0
"""Time without an answer of the server after which an agent without a run gives up."""
MAX_FAILURES = 3
"""Number of runs that may fail in a row; more would only repeat the same mistake."""

AgentStatus = Literal["started", "finished", "stopped", "failed", "invalid"]


@dataclass(frozen=True)
class AgentRun:
    """A run that the server of a W&B sweep asked for, when it has started or ended."""

    wandb_id: str
    """Its id in W&B."""
    run: str
    """Its id here; empty if its config is not valid."""
    status: AgentStatus
    """started; or how it ended: finished, stopped, failed, or invalid if its settings contradict each other,
    so that nothing was trained."""
    settings: Mapping[str, PlainValue]
    """The values that the sweep chose, as the server wrote them."""
    reason: str = ""
    """The reason for its end."""


class SweepServer(Protocol):
    """The server, as far as an agent needs it."""

    def heartbeat(self, running: Collection[str]) -> list[Command]:
        """Reports to the server which of its runs train here, and returns its commands."""
        ...


class Runs(Protocol):
    """Starts and stops the runs of an agent."""

    def start(self, command: Command) -> AgentRun:
        """Starts the run of a command, or continues it if it exists."""
        ...

    def ended(self, run: AgentRun) -> AgentRun | None:
        """Returns how a run has ended; None while it trains."""
        ...

    def stop(self, run: AgentRun) -> None:
        """Asks a run to save a checkpoint and to end."""
        ...


def run_agent(
    server: SweepServer,
    runs: Runs,
    *,
    count: int | None = None,
    pause: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[AgentRun]:
    """Carries out the commands of the server until it says `exit`, or until `count` runs have ended. Yields a
    record when a run starts and when it ends. Whatever ends the agent, its runs are asked to stop.

    Raises SweepDeleted if the sweep does not exist any more, ServerError if the server does not answer for
    OUTAGE_SECONDS, and GymnastError if MAX_FAILURES runs failed in a row; runs that train then may end first.
    """
    agent = _Agent(server, runs, count, now)
    try:
        while not agent.is_done:
            yield from agent.collect()
            if not agent.is_done:
                yield from agent.receive()
                pause(HEARTBEAT_SECONDS)
    finally:
        agent.stop_all()
    if agent.problem is not None:
        raise agent.problem


class _Agent:
    """The state of an agent between two heartbeats."""

    def __init__(
        self, server: SweepServer, runs: Runs, count: int | None, now: Callable[[], float]
    ) -> None:
        self._server, self._runs, self._count, self._now = server, runs, count, now
        self._active: dict[str, AgentRun] = {}
        """Id in W&B -> the run, while it trains."""
        self._started = self._failed = 0
        self._answered = now()
        """Time of the last answer of the server."""
        self._may_start = True
        self.problem: GymnastError | None = None
        """The error that ends the agent once its runs have ended."""

    @property
    def is_done(self) -> bool:
        enough = self._count is not None and self._started >= self._count
        return not self._active and (enough or not self._may_start)

    def collect(self) -> Iterator[AgentRun]:
        """Yields the runs that have ended since the last call."""
        for run in list(self._active.values()):
            ended = self._runs.ended(run)
            if ended is not None:
                del self._active[run.wandb_id]
                self._count_failure(ended)
                yield ended

    def receive(self) -> Iterator[AgentRun]:
        """Sends a heartbeat and carries out the answer. Yields the runs that started."""
        try:
            commands = self._server.heartbeat(list(self._active))
        except SweepDeleted as error:
            self._finish(error)
            return
        except ServerError as error:
            # A run continues without the server, and reports to it later.
            if not self._active and self._now() - self._answered > OUTAGE_SECONDS:
                self._finish(error)
            return
        self._answered = self._now()
        for command in commands:
            yield from self._carry_out(command)

    def stop_all(self) -> None:
        for run in self._active.values():
            self._runs.stop(run)

    def _carry_out(self, command: Command) -> Iterator[AgentRun]:
        if command.type in ("run", "resume"):
            if not self._may_start:
                return
            self._started += 1
            run = self._runs.start(command)
            if run.status == "started":
                self._active[run.wandb_id] = run
            else:
                self._count_failure(run)
            yield run
        elif command.type == "stop":
            if command.run_id in self._active:
                self._runs.stop(self._active[command.run_id])
        elif command.type == "exit":
            self._may_start = False
            self.stop_all()
        else:
            raise ServerError(f"the W&B server sent the unknown command {command.type!r}")

    def _count_failure(self, ended: AgentRun) -> None:
        """Ends the agent after too many failures in a row."""
        self._failed = self._failed + 1 if ended.status in ("failed", "invalid") else 0
        if self._failed >= MAX_FAILURES:
            problem = (
                f"{self._failed} runs of the sweep failed in a row; the last one: {ended.reason}"
            )
            self._finish(GymnastError(problem, fix="correct the parameters of the sweep"))

    def _finish(self, problem: GymnastError) -> None:
        """Starts no further run; the agent ends with this error when its runs have ended."""
        self._may_start = False
        self.problem = self.problem or problem
