"""Whole updates of policies with memory: the native engine against the torch engine, and its bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from gymnast import _native
from gymnast.config.memory_spec import CellName
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.native.plan import MAX_RECURRENT, unsupported_reason
from gymnast.policy.layers import Linear, Network, Recurrent
from tests.engine.native import memory_problems
from tests.engine.native.problems import ACTIONS, PLAIN
from tests.engine.native.test_gradients import EVERYTHING, MASKABLE, far
from tests.engine.native.test_same_bits import learned, same
from tests.engine.native.test_updates import agree, updated

CELLS = get_args(CellName)
SHARING: list[dict[str, Any]] = [{}, {"memory_shared": True}, {"shared": True}]


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    yield
    _native.set_threads(1)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_whole_update_matches_the_torch_engine(action: str, cell: str):
    problem = memory_problems.make(
        "dict", action, memory=f"{cell}:13", count=23, masked=action in MASKABLE
    )
    objective = replace(EVERYTHING, standardize=True)
    agree(updated(problem, objective, weight_decay=0.01, size=5))


@pytest.mark.parametrize("sharing", SHARING, ids=str)
@pytest.mark.parametrize("memory", ["lstm:16x2", "gru:9x2"])
def test_gradients_match_the_torch_engine(memory: str, sharing: dict[str, Any]):
    problem = memory_problems.make("dict", memory=memory, length=15, count=40, burn_in=4, **sharing)
    plan = MinibatchPlan(np.random.default_rng(0).permutation(40)[None], 13)
    native, torch = (problem.run_update(EVERYTHING, plan, engine=e) for e in ("native", "torch"))
    assert far(native[0], torch[0]) < 1e-6
    assert np.allclose(native[1].losses, torch[1].losses, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("share", [0.5, 1.5])
def test_both_engines_stop_after_the_epoch_that_exceeds_target_kl(share: float):
    problem = memory_problems.make(count=20)
    moved = updated(problem, PLAIN, updates=1, size=7)["native"][3]["policy/kl"]
    found = updated(problem, PLAIN, target_kl=share * moved, updates=1, size=7)
    agree(found)
    result = found["native"][2][0]
    assert result.stopped_early == (share < 1 or result.epochs < 3)


@pytest.mark.parametrize("sharing", SHARING, ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_any_number_of_threads_gives_the_same_bits(cell: str, sharing: dict[str, Any]):
    # more than one wave of shards, and a part of one
    problem = memory_problems.make("dict", memory=f"{cell}:19", length=60, count=83, **sharing)
    orders = np.stack([np.random.default_rng(k).permutation(83) for k in range(2)])
    found = []
    for count in (1, 2, 3):
        _native.set_threads(count)
        found.append([learned(problem, MinibatchPlan(orders, size)) for size in (83, 20)])
    for other in (1, 2):
        assert all(same(a, b) for a, b in zip(found[0], found[other], strict=True))


def test_the_torch_engine_is_used_for_more_recurrent_layers_than_the_kernels_have_room_for():
    def network(layers: int) -> Network:
        recurrent = (Recurrent("gru", 4, 4),) * layers
        return Network((), (*recurrent, Linear(4, 2, 1.0)), (Linear(4, 1, 1.0),))

    assert unsupported_reason(network(MAX_RECURRENT)) is None
    assert "recurrent layers" in (unsupported_reason(network(MAX_RECURRENT + 1)) or "")
