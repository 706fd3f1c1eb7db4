"""The collector of a run whose hosts do not wait for updates (collect.mode=async).

A rollout consists of the parts that arrive first, one per host on average: a fast host contributes several,
a slow one none. Each part was collected by some earlier policy, and its staleness is the number of updates
since then. Which parts arrive first depends on the machines, so that such a run cannot be repeated exactly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.collector import ROLE, CollectResult
from gymnast.collect.fragment import join, moved
from gymnast.collect.rollout_buffer import make_rollout
from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.collect.shards.collector import ShardedCollector, can_restore, shard_arrays
from gymnast.collect.shards.pieces import Piece, Track
from gymnast.collect.shards.pump import Publication, Pump
from gymnast.config.section import RolloutLength
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray
NUMBER = "async_number"
"""Name of the stored number of the next part of each copy, [N]."""


class AsyncCollector:
    """Implements `Collector` with hosts that always collect."""

    def __init__(self, sharded: ShardedCollector) -> None:
        """`sharded`: a collector with the hosts and their environments open."""
        self._sharded, self._cfg = sharded, sharded.cfg.collect
        self.env, self.spaces = sharded.env, sharded.spaces
        self.seeding_warnings, self.task_sampler = sharded.seeding_warnings, sharded.task_sampler
        self._tracks: list[Track] = []
        self._pump: Pump | None = None

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        return self._sharded.columns(role, copies)

    def start_episodes(self) -> None:
        self._sharded.start_episodes()
        self._tracks = self._split(0)

    def collect(
        self,
        policies: Mapping[str, Policy],
        span: RolloutLength,
        clock: Clock,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> CollectResult:
        """Publishes the policy and returns the first rollout that is complete. Parts that were ordered before
        may have more steps than `span` says; the budget may be exceeded by as much."""
        began, version, pump = time.perf_counter(), clock.rollouts, self._running_pump(clock)
        policy = policies[ROLE]
        stage = 0 if self.task_sampler is None else self.task_sampler.stage
        parameters = self._sharded.hosts.carrier.share(policy.arrays())
        pump.publish(Publication(version, clock.env_steps, policy.spec(), parameters, span, stage))
        with pump.changed:
            dropped = pump.queue.drop_older(version - self._cfg.max_staleness)
            pump.learner_waits = True
            while (pieces := pump.queue.take_rollout()) is None:
                if pump.problem is not None:
                    raise pump.problem
                pump.changed.wait()
                dropped += pump.queue.drop_older(version - self._cfg.max_staleness)
            pump.learner_waits = False
            pump.changed.notify_all()
        return self._result(pieces, dropped, version, time.perf_counter() - began)

    def _running_pump(self, clock: Clock) -> Pump:
        if self._pump is None:
            for track in self._tracks:
                # a run that has collected otherwise before has used the noise of these rollouts
                track.number = max(track.number, clock.rollouts)
            made = self._sharded
            self._pump = Pump(made.hosts, self._tracks, made.should_trace, keep_obs=made.keep_obs)
        return self._pump

    def _result(
        self, pieces: list[Piece], dropped: list[Piece], version: int, seconds: float
    ) -> CollectResult:
        """Returns the parts as one rollout, with what the dropped ones have to report."""
        every = [*pieces, *dropped]
        shards = self._sharded.shards
        result = CollectResult(
            {ROLE: self._rollout(pieces, version)},
            steps=sum(piece.fragment.env_steps for piece in pieces),
            vec_steps=pieces[0].fragment.length,
            episodes=sum(len(piece.fragment.ends.episodes) for piece in pieces),
            traces=[trace for piece in every for trace in piece.result.traces],
            faults=[
                fault
                for piece in every
                for fault in moved(piece.fragment.faults, shards[piece.host].first)
            ],
            env_seconds=seconds,  # waiting is all that the training process does
        )
        for piece in every:
            if piece.fragment.fatal_fault is not None:
                (result.fatal_fault,) = moved(
                    [piece.fragment.fatal_fault], shards[piece.host].first
                )
        result.host_row = self._sharded.hosts.reports.async_row(pieces, dropped, version)
        result.host_events = self._sharded.hosts.reports.take_events()
        return result

    def _rollout(self, pieces: list[Piece], version: int) -> Rollout:
        """Returns the parts as one rollout. A column is a copy in one part; `Rollout.copies` names it."""
        sizes = [len(piece.fragment.last_obs) for piece in pieces]
        first = np.cumsum([0, *sizes[:-1]]).tolist()
        joined = join([piece.fragment for piece in pieces], first)
        shards = self._sharded.shards
        copies = np.concatenate(
            [np.arange(shards[piece.host].first, shards[piece.host].stop) for piece in pieces]
        )
        rollout = make_rollout(joined.columns, joined.last_obs, joined.ends)
        staleness = np.repeat([version - piece.version for piece in pieces], sizes)
        episodes = replace(rollout.episodes, env=copies[rollout.episodes.env])
        return replace(rollout, staleness=staleness, copies=copies, episodes=episodes)

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        """Returns the arrays of every shard after its last part that has arrived. Parts that wait to be
        learned from are not stored."""
        if self._pump is None:
            return self._arrays()
        with self._pump.changed:
            return self._arrays()

    def _arrays(self) -> dict[str, Array]:
        states, tracks = [track.state for track in self._tracks], self._tracks
        with_steps = can_restore(states)
        running = RunningEpisodes.join([t.running for t in tracks], with_steps=with_steps)
        numbers = np.concatenate([np.full(len(track.copies), track.number) for track in tracks])
        return shard_arrays(states, running.state(with_steps=with_steps)) | {NUMBER: numbers}

    def load(self, arrays: dict[str, Array]) -> dict[int, str]:
        """Restores the running episodes on the hosts. Returns the copies for which that failed, with the
        reason; they start a new episode."""
        failed = self._sharded.load(arrays)
        # The copies may be divided otherwise than before: no shard may use noise a second time.
        self._tracks = self._split(int(arrays[NUMBER].max()) if NUMBER in arrays else 0)
        return failed

    def close(self) -> None:
        if self._pump is not None:
            self._pump.close()
        self._sharded.close()

    def _split(self, number: int) -> list[Track]:
        """Returns the shards as the hosts have them now. `number`: that of their next parts."""
        sharded = self._sharded
        return [
            Track(
                shard,
                sharded.running.part(shard.slice, with_steps=can_restore([state])),
                state,
                number,
            )
            for shard, state in zip(sharded.shards, sharded.states, strict=True)
        ]
