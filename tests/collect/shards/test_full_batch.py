"""A host with some of the rows computes what one process with all rows computes, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.collect.copies import CopyRange
from gymnast.collect.shards.full_batch import FullBatchPolicy, row_independent
from gymnast.policy.policy import Policy
from gymnast.training.learner import Learner
from tests.collect.shards.test_joining import config, opened

N = 16


def made(engine: str, memory: str) -> tuple[Policy, FullBatchPolicy]:
    cfg = config("numbers", **{"env.n_envs": N, "policy.hidden": [64, 64], "policy.memory": memory})
    with opened(cfg) as collector:
        policy = Learner("agent", *collector.spaces["agent"], cfg).policy
    policy.use_engine(engine)
    part = FullBatchPolicy.from_spec(policy.spec())
    part.load(policy.arrays())
    assert isinstance(part, FullBatchPolicy)
    return policy, part


def acted(policy: Policy, obs: np.ndarray, noise: np.ndarray, state: np.ndarray | None):
    n, head = len(obs), policy.head
    rows = [np.zeros((n, *head.action_spec.shape), head.action_spec.dtype)]
    rows += [np.zeros((n, head.dist_size), np.float32), *np.zeros((2, n), np.float32)]
    state = None if state is None else state.copy()
    policy.act_into(obs, noise, None, *rows, state)
    return [*rows, *([] if state is None else [state])]


@pytest.mark.parametrize("memory", ["off", "lstm:16"])
@pytest.mark.parametrize("parts", [2, 5, N])
def test_a_part_of_the_rows_gets_the_bits_of_the_whole_batch(memory: str, parts: int):
    policy, part = made("torch", memory)
    draws = np.random.default_rng(parts)
    obs = draws.normal(size=(N, 3)).astype(np.float32)
    noise = policy.head.noise(draws, (N,))
    state = (
        draws.normal(size=(N, policy.state_size)).astype(np.float32) if memory != "off" else None
    )
    whole = acted(policy, obs, noise, state)
    for copies in CopyRange.divide(N, parts):
        part.copies, own = copies, copies.slice
        found = acted(part, obs[own], noise[own], None if state is None else state[own])
        for rows, every in zip(found, whole, strict=True):
            assert rows.tobytes() == every[own].tobytes()


def test_only_compiled_kernels_need_no_full_batch():
    for engine in ("native", "torch"):
        assert row_independent(made(engine, "off")[0]) == (engine == "native")


def test_values_are_left_to_the_training_process():
    policy, part = made("torch", "off")
    obs = np.ones((3, 3), np.float32)
    assert part.value(obs).tolist() == [0, 0, 0]
    assert policy.value(obs).any()
