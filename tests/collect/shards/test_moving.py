"""A run continues on any number of hosts: the state of a collector does not depend on where it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.collect.copies import CopyRange
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.envs.backends.history import History, join_histories, part_of_history
from gymnast.spaces.actions import DiscreteAction
from tests.collect.shards.carriers import HereCarrier
from tests.collect.shards.same import assert_same
from tests.collect.shards.test_joining import N, config, on_hosts, opened, played_here, rollouts

HERE = 0
"""Stands for a collector in one process, as a number of hosts."""


def continued(cfg: Config, hosts: int, state: dict[str, Any], first: int, count: int) -> list[Any]:
    """Returns rollouts of a collector that loads a state, on some number of hosts."""
    carrier = None if hosts == HERE else HereCarrier(seed=first)
    with opened(cfg if hosts == HERE else on_hosts(cfg, hosts), carrier) as collector:
        assert collector.load(state) == {}
        assert_same(collector.state(), state)
        return rollouts(collector, cfg, first, count)


@pytest.mark.parametrize("kind", ["numbers", "images", "masks", "memory", "tasks"])
def test_rollouts_continue_on_another_number_of_hosts(kind: str):
    cfg = config(kind)
    expected = played_here(cfg)
    for hosts in (HERE, 1, 4, N):
        state = expected[0][1]
        for k, place in enumerate((hosts, 3, HERE, 2)[: len(expected) - 1], 1):
            ((result, state),) = continued(cfg, place, state, first=k, count=1)
            assert_same(result, expected[k][0])
            assert_same(state, expected[k][1])


@pytest.mark.slow
def test_a_vectorized_environment_continues_on_another_number_of_hosts():
    small = {"env.n_envs": 3, "algo.n_steps": 6, "algo.batch_size": "50%", "env.backend": "vector"}
    cfg = resolve("ALE/Pong-v5:pixels", {"stop.env_steps": 100_000, **small}).config
    expected = played_here(cfg)
    for first, second in ((HERE, 3), (2, HERE)):
        ((result, state),) = continued(cfg, first, expected[0][1], first=1, count=1)
        assert_same(result, expected[1][0])
        assert_same(state, expected[1][1])
        ((result, _),) = continued(cfg, second, state, first=2, count=1)
        assert_same(result, expected[2][0])


def test_episodes_that_cannot_be_continued_are_named_with_their_copies():
    cfg = on_hosts(config("numbers", **{"facts.deterministic": "no"}), 3)
    with opened(cfg, HereCarrier()) as collector:
        collector.start_episodes()
        (_, state), *_ = rollouts(collector, cfg, count=1)
        failed = collector.load(state)
    assert failed == dict.fromkeys(range(N), "this environment does not replay exactly")


def test_a_lost_host_whose_episodes_cannot_be_continued_is_an_event():
    cfg = on_hosts(config("numbers", **{"facts.deterministic": "no"}), 3)
    carrier = HereCarrier(lost_before={8})
    with opened(cfg, carrier) as collector:
        collector.start_episodes()
        ((result, _),) = rollouts(collector, cfg, count=1)
    lost = carrier.started[-1]
    (restarted,) = [detail for kind, detail in result.host_events if kind == "episodes restarted"]
    assert restarted["copies"] == [2 * lost, 2 * lost + 1]
    assert "does not replay exactly" in str(restarted["why"])


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.lists(st.booleans(), min_size=n, max_size=n), max_size=12),
            st.integers(1, n),
        )
    )
)
def test_a_history_is_divided_and_joined_without_a_change(made):
    n, resets, parts = made
    history, draws = History(DiscreteAction(4, 0), n), np.random.default_rng(len(resets))
    history.record_reset(range(n), range(100, 100 + n))
    for t, row in enumerate(resets):
        history.record_actions(draws.integers(0, 4, n))
        due = [copy for copy in range(n) if row[copy]]
        history.record_reset(due, [1000 * t + copy for copy in due])
    whole = history.arrays()
    assert whole is not None
    divided = [part_of_history(whole, r.slice) for r in CopyRange.divide(n, parts)]
    for part in divided:
        assert part["start"].min() == 0
        assert part["given_as"].dtype == np.int64
    assert_same(join_histories(divided), whole)
