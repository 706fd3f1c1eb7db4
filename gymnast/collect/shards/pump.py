"""Keeps hosts busy without waiting for updates (collect.mode=async).

A thread sends each host its next order as soon as it has answered, with the newest parameters that the
learner has published, and queues the answers. It alone talks to the hosts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

from gymnast.collect.fragment import finish, join
from gymnast.collect.shards.carrier import Answer, Carrier, Lost
from gymnast.collect.shards.collector import can_restore, shard_arrays
from gymnast.collect.shards.dispatch import MAX_DEATHS
from gymnast.collect.shards.orders import Collect, Collected, Load, Order
from gymnast.collect.shards.pieces import Piece, PieceQueue, Track
from gymnast.collect.shards.reports import HostReports
from gymnast.config.section import RolloutLength
from gymnast.config.sections.collect import CollectConfig
from gymnast.errors import GymnastError, HostsMissing

POLL_SECONDS = 0.2
"""Longest time between two checks of the deadlines, and of whether to end."""
BUSY_SECONDS = 0.01
"""Time between two looks while some hosts wait for the learner."""


@dataclass(frozen=True)
class Publication:
    """The newest policy, and everything else that hosts need to collect with it."""

    version: int
    """Number of updates so far."""
    env_steps: int
    """Env steps so far, by which traces name the policy."""
    policy: dict[str, Any]
    """The policy's spec."""
    parameters: object
    """The policy's parameters, as the carrier sends them."""
    span: RolloutLength
    stage: int
    """Stage of the curriculum."""


@dataclass(frozen=True)
class _Flight:
    """An order that a host is carrying out."""

    published: Publication
    sent: float


class Pump:
    """The thread, and what it shares with the learner: all of it is guarded by `changed`."""

    def __init__(
        self,
        carrier: Carrier,
        cfg: CollectConfig,
        tracks: Sequence[Track],
        opening: Callable[[int], tuple[Order, ...]],
        reports: HostReports,
        instruction_set: str,
        should_trace: Callable[[int], bool],
        *,
        keep_obs: bool,
    ) -> None:
        """`opening(host)` returns the orders that prepare a new host; the other arguments are those of
        `finish`."""
        self._carrier, self._cfg, self._tracks = carrier, cfg, list(tracks)
        self._opening, self._reports = opening, reports
        self._instruction_set, self._should_trace = instruction_set, should_trace
        self._keep_obs = keep_obs
        self.changed = Condition()
        self.queue = PieceQueue(len(self._tracks))
        self.learner_waits = False
        """Whether the learner waits for a rollout: then no host may wait for the learner."""
        self.problem: GymnastError | None = None
        """The error that ended the thread."""
        self._published: Publication | None = None
        self._flights: dict[int, _Flight] = {}
        self._losses: dict[int, int] = {}
        """Host -> how often it was lost since its last answer."""
        self._missing: dict[int, float] = {}
        """Host -> since when it has been missing."""
        self._ends = False
        self._thread = Thread(target=self._run, name="hosts", daemon=True)

    def publish(self, published: Publication) -> None:
        """Makes this the policy that hosts collect with from their next order on."""
        with self.changed:
            self._published = published
            self.changed.notify_all()
        if self._thread.ident is None:
            self._thread.start()

    def close(self) -> None:
        """Ends the thread."""
        with self.changed:
            self._ends = True
            self.changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    # ---- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._ends:
                self._turn()
        except GymnastError as problem:
            self._fail(problem)
        except Exception as problem:  # the learner must not wait for a thread that has died
            what = f"collecting on hosts failed: {type(problem).__name__}: {problem}"
            self._fail(HostsMissing(what, at="collect.mode"))
            raise

    def _fail(self, problem: GymnastError) -> None:
        with self.changed:
            self.problem = problem
            self.changed.notify_all()

    def _turn(self) -> None:
        """Sends orders to idle hosts, then waits for an answer or for the learner."""
        with self.changed:
            idle = [host for host in range(len(self._tracks)) if host not in self._flights]
            if self._published is not None and (self.learner_waits or not self.queue.is_full):
                for host in idle:
                    self._send(host, ())
                idle = []
            elif len(idle) == len(self._tracks):
                self.changed.wait(POLL_SECONDS)
                return
        answer = self._carrier.receive(BUSY_SECONDS if idle else POLL_SECONDS)
        answer = answer or self._end_late_host()
        if answer is not None:
            with self.changed:
                self._take(answer)
                self.changed.notify_all()

    def _send(self, host: int, before: tuple[Order, ...]) -> None:
        """Sends a host the order for its next part, after the orders `before`."""
        published, track = self._published, self._tracks[host]
        assert published is not None
        order = Collect(
            published.policy,
            published.span,
            track.number,
            published.stage,
            self._instruction_set,
            exact=False,
        )
        self._carrier.send(host, (*before, order), published.parameters)
        self._flights[host] = _Flight(published, time.monotonic())

    def _take(self, answer: Answer) -> None:
        """Queues the part that a host has sent, or replaces a host that was lost."""
        host, value = answer.host, answer.value
        if isinstance(value, GymnastError):
            raise value
        if isinstance(value, Lost):
            self._replace(host, value.reason)
            return
        flight = self._flights.pop(host)
        self._reports.answered(host, answer.n_bytes)
        self._losses.pop(host, None)
        if host in self._missing:
            self._reports.replaced(host, time.monotonic() - self._missing.pop(host))
        self.queue.add(self._piece(host, value[-1], flight.published, answer.n_bytes))

    def _piece(self, host: int, part: Collected, published: Publication, n_bytes: int) -> Piece:
        """Returns the part of a rollout, and adds its steps to the episodes of its shard."""
        track = self._tracks[host]
        track.state, track.number = part.state, track.number + 1
        track.running.table[:] = part.state.table
        # Copies, since the arrays that were sent may lie in the memory of the carrier.
        fragment = join([part.fragment], [0])
        result = finish(
            fragment,
            track.running,
            published.span,
            published.env_steps,
            self._should_trace,
            keep_obs=self._keep_obs,
        )
        return Piece(host, published.version, fragment, result, part.cpu_seconds, n_bytes)

    def _replace(self, host: int, reason: str) -> None:
        """Starts another host in place of one that was lost, from the state after its last part."""
        now = time.monotonic()
        self._losses[host] = losses = self._losses.get(host, 0) + 1
        waited = now - self._missing.setdefault(host, now)
        self._reports.lost(host, reason)
        if losses >= MAX_DEATHS or waited > self._cfg.wait:
            what = f"host {host} was lost {losses} times within {waited:.0f} s, lastly because {reason}"
            fix = "start the hosts again, then resume the run on any number"
            events = self._reports.take_events()
            raise HostsMissing(what, at="collect.hosts", fix=fix, events=events)
        track = self._tracks[host]
        running = track.running.state(with_steps=can_restore([track.state]))
        loading = Load(shard_arrays([track.state], running), track.state.faults_in_a_row)
        self._carrier.start(host)
        self._send(host, (*self._opening(host), loading))

    def _end_late_host(self) -> Answer | None:
        """Ends a host that has not answered in time, and returns it as lost; None if there is none."""
        for host, flight in self._flights.items():
            if time.monotonic() - flight.sent > self._cfg.timeout:
                self._carrier.end(host)
                why = f"it did not answer within {self._cfg.timeout:g} s (collect.timeout)"
                return Answer(host, Lost(why))
        return None
