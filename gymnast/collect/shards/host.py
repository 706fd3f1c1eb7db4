"""The side of a host: it has the environments of one shard and a copy of the policy."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gymnast.collect import replay
from gymnast.collect.open_vector import open_vector_collector
from gymnast.collect.shards.env_orders import OpenEnvs
from gymnast.collect.shards.env_shard import EnvShard
from gymnast.collect.shards.full_batch import FullBatchPolicy, row_independent
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
from gymnast.collect.vector import VectorCollector
from gymnast.compiled import instruction_sets, use_instruction_set
from gymnast.errors import EnvError, GymnastError
from gymnast.hosts import HostFacts
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces

Array = np.ndarray


class Host:
    """Carries out the orders of the training process, one after the other."""

    def __init__(self) -> None:
        self._collector: VectorCollector | None = None
        self._envs: EnvShard | None = None
        self._policy: Policy | None = None
        self._spec: object = None

    def pid(self) -> int:
        return os.getpid()

    def carry_out(
        self, orders: Sequence[Order], parameters: dict[str, Array] | None = None
    ) -> list[Any] | GymnastError:
        """Returns the answer to each order, or the error of the first that fails, as a value: whatever is
        wrong with an environment is no failure of the host. `parameters`: those of the policy, for
        `Collect`."""
        try:
            return [self._carry_out(order, parameters) for order in orders]
        except GymnastError as problem:
            return problem
        except Exception as problem:
            what = f"collecting failed with {type(problem).__name__}: {problem}"
            return EnvError(what, traceback=traceback.format_exc())

    def close(self) -> None:
        if self._collector is not None:
            self._collector.close()
            self._collector = None
        if self._envs is not None:
            self._envs.close()
            self._envs = None

    def _carry_out(self, order: Order, parameters: dict[str, Array] | None) -> Any:
        match order:
            case Open():
                return self._open(order)
            case Start():
                self._shard.start_episodes()
                return self._state()
            case Load():
                failed = self._shard.load(order.arrays)
                if order.faults_in_a_row is not None:
                    self._shard.faults.continue_from(order.faults_in_a_row)
                return Loaded(failed, self._state())
            case Collect():
                assert parameters is not None
                return self._collect(order, parameters)
            case OpenEnvs():
                self.close()
                self._envs = EnvShard(order)
                return self._envs.opened
            case _:
                assert self._envs is not None, "the environments are not open"
                return self._envs.carry_out(order)

    @property
    def _shard(self) -> VectorCollector:
        assert self._collector is not None, "the environments are not open"
        return self._collector

    def _open(self, order: Open) -> Opened:
        self.close()
        cfg = order.cfg
        threadpool_limits(cfg.threads)  # sums of BLAS depend on it
        self._collector = shard = open_vector_collector(cfg, order.copies)
        has_mask = False
        if cfg.algo.action_selection != "sample":
            shard.envs.reset([0], [cfg.seed])
            has_mask = shard.envs.mask is not None
        obs, action = shard.envs.obs_space, shard.envs.action_space
        return Opened(
            HostFacts.for_env(cfg.env.id),
            instruction_sets(),
            replace(shard.env, outcomes={}),  # a mapping proxy cannot be sent
            (spaces.to_json(obs), spaces.to_json(action)),
            shard.seeding_warnings,
            shard.keep_obs,
            shard.envs.name,
            shard.envs.restore_mode,
            has_mask,
        )

    def _collect(self, order: Collect, parameters: dict[str, Array]) -> Collected:
        shard, began = self._shard, time.process_time()
        if self._policy is None or self._spec != order.policy:
            self._policy, self._spec = self._make_policy(order), order.policy
        use_instruction_set(order.instruction_set)
        self._policy.load(parameters)
        if shard.task_sampler is not None:
            shard.task_sampler.stage = order.stage
        fragment = shard.play(self._policy, order.span, order.rollout, max_steps=order.max_steps)
        return Collected(fragment, self._state(), time.process_time() - began)

    def _make_policy(self, order: Collect) -> Policy:
        policy = Policy.from_spec(dict(order.policy))
        if row_independent(policy) or not order.exact:
            return policy
        full = FullBatchPolicy.from_spec(dict(order.policy))
        assert isinstance(full, FullBatchPolicy)
        full.copies = self._shard.copies
        return full

    def _state(self) -> ShardState:
        shard = self._shard
        return ShardState(
            shard.envs.obs.copy(),
            shard.start.copy(),
            shard.running.table.copy(),
            None if shard.policy_state is None else shard.policy_state.copy(),
            replay.replay_state(shard.envs),
            shard.faults.in_a_row(),
        )
