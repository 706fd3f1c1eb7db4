"""Keeps hosts busy without waiting for updates (collect.mode=async).

A thread sends each host its next order as soon as it has answered, with the newest parameters that the
learner has published, and queues the answers. It alone talks to the hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Condition, Thread
from typing import Any

from gymnast.collect.fragment import finish, join
from gymnast.collect.shards.carrier import Answer
from gymnast.collect.shards.collector import can_restore, shard_arrays
from gymnast.collect.shards.host_group import HostGroup
from gymnast.collect.shards.orders import Collect, Collected, Load, Order
from gymnast.collect.shards.pieces import Piece, PieceQueue, Track
from gymnast.config.section import RolloutLength
from gymnast.errors import GymnastError, HostsMissing

POLL_SECONDS = 0.2
"""Longest time between two checks of whether to end."""
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


class Pump:
    """The thread, and what it shares with the learner: all of it is guarded by `changed`."""

    def __init__(
        self,
        hosts: HostGroup,
        tracks: Sequence[Track],
        should_trace: Callable[[int], bool],
        *,
        keep_obs: bool,
    ) -> None:
        """`tracks`: the shards of the hosts; the other arguments are those of `finish`."""
        self._hosts, self._tracks = hosts, list(tracks)
        self._should_trace, self._keep_obs = should_trace, keep_obs
        self.changed = Condition()
        self.queue = PieceQueue(len(self._tracks))
        self.learner_waits = False
        """Whether the learner waits for a rollout: then no host may wait for the learner."""
        self.problem: GymnastError | None = None
        """The error that ended the thread."""
        self._published: Publication | None = None
        self._ordered: dict[int, Publication] = {}
        """Host -> the policy that it collects with. Idle hosts are missing."""
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
            idle = [host for host in range(len(self._tracks)) if host not in self._ordered]
            if self._published is not None and (self.learner_waits or not self.queue.is_full):
                for host in idle:
                    self._hosts.dispatch.send(host, partial(self._orders, host))
                idle = []
            elif len(idle) == len(self._tracks):
                self.changed.wait(POLL_SECONDS)
                return
        answer = self._hosts.dispatch.receive(BUSY_SECONDS if idle else POLL_SECONDS)
        if answer is not None:
            with self.changed:
                self._take(answer)
                self.changed.notify_all()

    def _orders(self, host: int, is_new: bool) -> tuple[tuple[Order, ...], object]:
        """Returns the orders for the next part of a host, and the parameters to collect it with. One that
        has replaced another first loads the state after the last part."""
        published, track = self._published, self._tracks[host]
        assert published is not None
        order = Collect(
            published.policy,
            published.span,
            track.number,
            published.stage,
            self._hosts.instruction_set,
            exact=False,
        )
        self._ordered[host] = published
        setup = (*self._hosts.opening(host), _loading(track)) if is_new else ()
        return (*setup, order), published.parameters

    def _take(self, answer: Answer) -> None:
        """Queues the part that a host has sent."""
        host, answers = answer.host, answer.value
        assert isinstance(answers, list)
        self._hosts.check_successor(host, answers)
        published = self._ordered.pop(host)
        self.queue.add(self._piece(host, answers[-1], published, answer.n_bytes))

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


def _loading(track: Track) -> Load:
    """Returns the order that brings a host to the state of a shard after its last part."""
    running = track.running.state(with_steps=can_restore([track.state]))
    return Load(shard_arrays([track.state], running), track.state.faults_in_a_row)
