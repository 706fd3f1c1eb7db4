"""The collector of a run whose environments are on several hosts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.collector import ROLE, CollectResult, EnvDescription
from gymnast.collect.copies import CopyRange
from gymnast.collect.fragment import finish, join, with_values
from gymnast.collect.open_vector import refuse_action_masks
from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.collect.shards.carrier import Carrier
from gymnast.collect.shards.full_batch import row_independent
from gymnast.collect.shards.host_group import HostGroup
from gymnast.collect.shards.orders import (
    Collect,
    Collected,
    Load,
    Loaded,
    Open,
    Opened,
    Order,
    ShardState,
    Start,
)
from gymnast.collect.tasks import TaskSampler
from gymnast.config.config import Config
from gymnast.config.section import RolloutLength
from gymnast.envs.backends.history import join_histories, part_of_history
from gymnast.errors import ConfigError
from gymnast.policy.policy import Policy
from gymnast.runs.role_arrays import strip_prefix
from gymnast.seeds import is_in_subset
from gymnast.spaces import spaces
from gymnast.spaces.spaces import Action, Observation

Array = np.ndarray
HISTORY = "history."
"""Prefix of a vector environment's own arrays in a checkpoint."""


class ShardedCollector:
    """Implements `Collector` with one shard per host. It keeps everything that is needed to continue a shard
    elsewhere: what a host has is always a copy of it."""

    def __init__(self, cfg: Config, carrier: Carrier) -> None:
        """Starts the hosts and opens the environments. Raises what opening them raises, and GymnastError for
        hosts that differ from this one."""
        self.cfg, self.hosts = cfg, HostGroup(cfg, carrier, Open)
        self.shards = self.hosts.shards
        with self.hosts.opened() as opened:
            self._describe(opened)
        n = cfg.env.n_envs
        self.running = RunningEpisodes(n)
        self.states: list[ShardState] = []
        """The state of each shard after the last rollout."""
        self.task_sampler = TaskSampler.from_config(cfg.env)
        self.should_trace = partial(is_in_subset, cfg.traces.train)

    def _describe(self, opened: Sequence[Opened]) -> None:
        """Takes over what the hosts know about the environment."""
        first, cfg = opened[0], self.cfg
        self.hosts.use_common_instruction_set(opened)
        if first.has_mask:
            refuse_action_masks(cfg)
        if first.restore_mode == "history":
            what = f"the copies of {cfg.env.id} with env.backend={cfg.env.backend} share one random generator"
            raise ConfigError(
                f"collect.on={cfg.collect.on}: {what}, so that they cannot be divided among hosts",
                fix="set env.backend=inprocess",
            )
        self.env: EnvDescription = first.env
        obs, action = (spaces.from_json(space) for space in first.spaces)
        self.spaces: dict[str, tuple[Observation, Action]] = {ROLE: (obs, action)}  # type: ignore[dict-item]
        self.seeding_warnings = first.seeding_warnings
        self.keep_obs, self._restores = first.keep_obs, first.restore_mode != "none"

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        return np.arange(self.cfg.env.n_envs) if copies is None else np.array(copies, np.int64)

    def start_episodes(self) -> None:
        """Resets every copy for its first episode."""
        answers = self._ask([(Start(),)] * len(self.shards), lambda _: ())
        self._adopt([answer[-1] for answer in answers])

    def collect(
        self,
        policies: Mapping[str, Policy],
        span: RolloutLength,
        clock: Clock,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> CollectResult:
        """Collects a rollout of `span` steps on all hosts. The arguments are those of `VectorCollector`."""
        policy, began = policies[ROLE], time.perf_counter()
        stage = 0 if self.task_sampler is None else self.task_sampler.stage
        order = Collect(policy.spec(), span, clock.rollouts, stage, self.hosts.instruction_set)
        parts = self._collect(order, self.hosts.carrier.share(policy.arrays()))
        self._adopt([part.state for part in parts])
        fragment = join([part.fragment for part in parts], [shard.first for shard in self.shards])
        if not row_independent(policy):
            fragment = with_values(fragment, policy, self._policy_state())
        result = finish(
            fragment,
            self.running,
            span,
            clock.env_steps,
            self.should_trace,
            keep_obs=self.keep_obs,
        )
        seconds = time.perf_counter() - began
        result.host_row = self.hosts.reports.row(parts, seconds)
        result.host_events = self.hosts.reports.take_events()
        return result

    def _collect(self, order: Collect, parameters: object) -> list[Collected]:
        """Returns the parts of all shards, which have the same number of steps."""
        answers = self._ask([(order,)] * len(self.shards), self._loading, parameters)
        parts: list[Collected] = [answer[-1] for answer in answers]
        # If a copy has failed for good, its shard has stopped there. In one process the others would have
        # stopped with it: their parts are computed again, up to that step.
        while len({part.fragment.length for part in parts}) > 1:
            shortest = min(part.fragment.length for part in parts)
            cut = replace(order, max_steps=shortest)
            again: list[tuple[Order, ...]] = [
                (*self.hosts.opening(k), *self._loading(k), cut)
                if part.fragment.length > shortest
                else ()
                for k, part in enumerate(parts)
            ]
            answers = self._ask(again, lambda _: (), parameters, opens=True)
            parts = [
                answer[-1] if answer else part for answer, part in zip(answers, parts, strict=True)
            ]
        return parts

    def _ask(
        self,
        orders: Sequence[tuple[Order, ...]],
        before: Callable[[int], tuple[Order, ...]],
        parameters: object = None,
        *,
        opens: bool = False,
    ) -> list[list[Any]]:
        """Returns the answers of all hosts (`Dispatch.all`), and checks what those say that are new."""
        answers = self.hosts.dispatch.all(orders, before, parameters, opens=opens)
        for host, answer in enumerate(answers):
            self.hosts.check_successor(host, answer)
        return answers

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        """Returns the same arrays as a collector in one process: a run may continue anywhere."""
        return self._state(CopyRange.all(self.cfg.env.n_envs))

    def load(self, arrays: dict[str, Array]) -> dict[int, str]:
        """Restores the running episodes on the hosts. Returns the copies for which that failed, with the
        reason; they start a new episode."""
        self.running.load(arrays)
        history = strip_prefix(HISTORY, arrays)
        self.states = [
            ShardState(
                obs=arrays["obs"][shard.slice],
                start=arrays["start"][shard.slice].astype(bool),
                table=self.running.table[shard.slice].copy(),
                policy_state=arrays["policy_state"][shard.slice]
                if "policy_state" in arrays
                else None,
                history=part_of_history(history, shard.slice) if history else self._no_history(),
                faults_in_a_row=np.zeros(len(shard), np.int64),
            )
            for shard in self.shards
        ]
        orders = [self._loading(k) for k in range(len(self.shards))]
        answers = self.hosts.dispatch.all(orders, lambda _: ())
        for host, answer in enumerate(answers):
            self.hosts.check_successor(
                host, answer[:-1]
            )  # the caller reports what was not restored
        loaded: list[Loaded] = [a[-1] for a in answers]
        failed = {
            shard.first + copy: reason
            for shard, one in zip(self.shards, loaded, strict=True)
            for copy, reason in one.failed.items()
        }
        self._adopt([one.state for one in loaded])
        return failed

    def close(self) -> None:
        self.hosts.carrier.close()

    def _policy_state(self) -> Array | None:
        """Returns the policy states of all copies, [N, S]; None without memory."""
        rows = [state.policy_state for state in self.states if state.policy_state is not None]
        return np.concatenate(rows) if rows else None

    def _no_history(self) -> dict[str, Array] | None:
        return {} if self._restores else None

    def _adopt(self, states: Sequence[ShardState]) -> None:
        """Takes over the state of every shard after a rollout."""
        self.states = list(states)
        self.running.table[:] = np.concatenate([state.table for state in states])

    def _state(self, copies: CopyRange) -> dict[str, Array]:
        """Returns the arrays from which these copies, whole shards, can be continued."""
        states = [
            state
            for shard, state in zip(self.shards, self.states, strict=True)
            if copies.first <= shard.first < copies.stop
        ]
        running = self.running.state(with_steps=can_restore(states), copies=copies.slice)
        return shard_arrays(states, running)

    # ---- hosts -------------------------------------------------------------------------------

    def _loading(self, host: int) -> tuple[Order, ...]:
        """Returns the orders that bring a host to the state of its shard after the last rollout."""
        state = self.states[host]
        return (Load(self._state(self.shards[host]), state.faults_in_a_row),)


def can_restore(states: Sequence[ShardState]) -> bool:
    """Returns whether the episodes of these shards can be restored."""
    return all(state.history is not None for state in states)


def shard_arrays(states: Sequence[ShardState], running: dict[str, Array]) -> dict[str, Array]:
    """Returns the arrays from which shards can be continued, those of a collector in one process. `running`:
    what `RunningEpisodes.state` returned for their copies."""
    arrays = {
        "obs": np.concatenate([state.obs for state in states]),
        "start": np.concatenate([state.start for state in states]),
        **running,
    }
    if states[0].policy_state is not None:
        rows = [state.policy_state for state in states if state.policy_state is not None]
        arrays["policy_state"] = np.concatenate(rows)
    known = [state.history for state in states if state.history is not None]
    if can_restore(states) and all(known):
        joined = join_histories(known)
        arrays |= {f"{HISTORY}{name}": array for name, array in joined.items()}
    return arrays
