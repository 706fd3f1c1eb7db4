"""Central inference: environments on hosts, one policy in the training process (as in SEED RL).

Every vector step is one message to each host and back. That pays off if a forward pass of the policy takes
longer than the messages, or needs a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.collector import CollectResult
from gymnast.collect.copies import CopyRange
from gymnast.collect.fragment import moved
from gymnast.collect.shards.carrier import Carrier
from gymnast.collect.shards.env_orders import (
    EnvOrder,
    EnvsOpened,
    OpenEnvs,
    Outcome,
    ReplayEnvs,
    ResetEnvs,
    StepEnvs,
)
from gymnast.collect.shards.host_group import HostGroup
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.section import RolloutLength
from gymnast.envs.backends.backend import Fault, Step
from gymnast.envs.env_types import Info
from gymnast.errors import ConfigError, HostsMissing
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.spaces import Action, Observation

Array = np.ndarray


LOST = "its host was lost, and replaying its episode did not lead to the same observation"


class RemoteBackend:
    """Implements `Backend` with environments on hosts. A host that is lost is replaced: its successor replays
    the running episodes of its copies."""

    restore_mode: Literal["replay", "together", "history", "none"] = "replay"

    def __init__(self, cfg: Config, carrier: Carrier) -> None:
        """Starts the hosts and opens the environments. Raises what opening them raises."""
        self.cfg, self.n_envs = cfg, cfg.env.n_envs
        self.hosts = HostGroup(cfg, carrier, OpenEnvs)
        self.shards = self.hosts.shards
        with self.hosts.opened() as opened:
            self._describe(opened[0])
        n = self.n_envs
        self._reward = np.zeros(n)
        self._terminated, self._truncated = (np.zeros(n, dtype=bool) for _ in range(2))
        self._mask: Array | None = None
        self._seed: list[int | None] = [None] * n
        """Seed of the running episode of each copy; None before its first reset and after a fault."""
        self._actions: list[list[Array]] = [[] for _ in range(n)]
        """Actions of the running episode of each copy."""

    def _describe(self, first: EnvsOpened) -> None:
        """Takes over what the hosts know about the environment. `first`: the answer of the first one."""
        env = self.cfg.env
        if first.restore_mode != "replay":
            what = f"central inference steps single copies, which env.backend={env.backend} cannot"
            raise ConfigError(what, at="collect.inference", fix="set env.backend=inprocess")
        obs, action = (spaces.from_json(space) for space in first.spaces)
        self.obs_space: Observation = obs  # type: ignore[assignment]
        self.action_space: Action = action  # type: ignore[assignment]
        self.name, self.space_texts = first.name, first.space_texts
        self.time_limit, self.has_default_limit = first.time_limit, first.has_default_limit
        self.obs = np.zeros((self.n_envs, *first.obs.shape[1:]), first.obs.dtype)

    @property
    def mask(self) -> Array | None:
        return self._mask

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        for copy, seed in zip(copies, seeds, strict=True):
            self._seed[copy], self._actions[copy] = seed, []
        seed_of = dict(zip(copies, seeds, strict=True))
        orders = [
            (ResetEnvs(own, [seed_of[shard.first + i] for i in own]),)
            for shard, own in ((shard, self._own(shard, copies)) for shard in self.shards)
        ]
        outcomes = self._send(orders)
        for shard, outcome, (order,) in zip(self.shards, outcomes, orders, strict=True):
            self._adopt(shard, outcome, order.copies)
            rows = [shard.first + i for i in order.copies]
            self._reward[rows] = 0.0
            self._terminated[rows] = self._truncated[rows] = False
        return self._faults(outcomes)

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        stepped = range(self.n_envs) if copies is None else copies
        orders = [
            (StepEnvs(action[shard.slice], None if copies is None else self._own(shard, copies)),)
            for shard in self.shards
        ]
        outcomes = self._send(orders)
        infos: dict[int, Info] = {}
        for shard, outcome in zip(self.shards, outcomes, strict=True):
            self._adopt(shard, outcome, range(len(shard)))
            assert outcome.reward is not None
            assert outcome.terminated is not None
            assert outcome.truncated is not None
            self._reward[shard.slice] = outcome.reward
            self._terminated[shard.slice] = outcome.terminated
            self._truncated[shard.slice] = outcome.truncated
            infos |= {shard.first + i: info for i, info in (outcome.infos or {}).items()}
        for copy in stepped:
            self._actions[copy].append(action[copy].copy())
        faults = self._faults(outcomes)
        for fault in faults:
            self._seed[fault.copy] = None
        values = [o.info_values for o in outcomes if o.info_values is not None]
        return Step(
            self.obs,
            self._reward,
            self._terminated,
            self._truncated,
            _Infos(infos, self.n_envs),
            faults=faults,
            info_values=np.concatenate(values) if values else None,
        )

    def close(self) -> None:
        self.hosts.carrier.close()

    def _send(self, orders: Sequence[tuple[EnvOrder, ...]]) -> list[Outcome]:
        """Returns the outcome of each host. Copies that a new host could not bring back have a fault."""
        outcomes: list[Outcome] = []
        every = self.hosts.dispatch.all(orders, self._replaying)
        for host, (shard, answers) in enumerate(zip(self.shards, every, strict=True)):
            outcome: Outcome = answers[-1]
            if len(answers) > 1:  # a new host: opened, replayed, then the order itself
                self.hosts.check_successor(host, answers)
                lost = [Fault(i, len(self._actions[shard.first + i]), LOST) for i in answers[1]]
                outcome = replace(outcome, faults=(*outcome.faults, *lost))
            outcomes.append(outcome)
        return outcomes

    def _replaying(self, host: int) -> tuple[EnvOrder, ...]:
        """Returns the order that brings a new host to the state of the lost one."""
        shard = self.shards[host]
        known = {
            i: (seed, self._actions[shard.first + i])
            for i in range(len(shard))
            if (seed := self._seed[shard.first + i]) is not None
        }
        return (ReplayEnvs(known, self.obs[shard.slice].copy()),)

    def _own(self, shard: CopyRange, copies: Sequence[int]) -> list[int]:
        """Returns those of the copies that a shard has, numbered within the shard."""
        return [copy - shard.first for copy in copies if shard.first <= copy < shard.stop]

    def _adopt(self, shard: CopyRange, outcome: Outcome, copies: Sequence[int]) -> None:
        """Stores the observations and masks of these copies of a shard."""
        rows = [shard.first + i for i in copies]
        self.obs[rows] = outcome.obs[list(copies)]
        if outcome.mask is not None:
            if self._mask is None:
                self._mask = np.ones((self.n_envs, *outcome.mask.shape[1:]), dtype=bool)
            self._mask[rows] = outcome.mask[list(copies)]

    def _faults(self, outcomes: Sequence[Outcome]) -> tuple[Fault, ...]:
        return tuple(
            fault
            for shard, outcome in zip(self.shards, outcomes, strict=True)
            for fault in moved(outcome.faults, shard.first)
        )


class _Infos:
    """The infos of copies whose episode ended; empty for all others."""

    def __init__(self, known: dict[int, Info], n: int) -> None:
        self._known, self._n = known, n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, copy: int, /) -> Info:
        return self._known.get(copy, {})


class CentralCollector(VectorCollector):
    """A collector whose environments are on hosts."""

    envs: RemoteBackend

    def collect(
        self,
        policies: Mapping[str, Policy],
        span: RolloutLength,
        clock: Clock,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> CollectResult:
        # Everything that `state` returns and a rollout changes before it is complete.
        state = None if self.policy_state is None else self.policy_state.copy()
        before = self.running.table.copy(), self.envs.obs.copy(), self.start.copy(), state
        try:
            result = super().collect(policies, span, clock, should_stop)
        except HostsMissing:
            # A checkpoint is exact only at the boundary of a rollout. The environments are beyond it, but
            # without hosts they are of no use anyway.
            self.running.table[:], self.envs.obs[:], self.start, self.policy_state = before
            raise
        result.host_row = self.envs.hosts.reports.counts()
        result.host_events = self.envs.hosts.reports.take_events()
        return result
