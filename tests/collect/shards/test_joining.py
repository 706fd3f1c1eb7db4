"""However the env copies are divided among hosts, the joined rollouts are those of one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.clock import Clock
from gymnast.collect.collector import Collector, CollectResult
from gymnast.collect.copies import CopyRange
from gymnast.collect.open_vector import open_vector_collector
from gymnast.collect.shards.collector import ShardedCollector
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.seeds import episode_seed
from gymnast.training.learner import Learner
from tests.collect.shards.carriers import HereCarrier
from tests.collect.shards.same import assert_same

N, ROLLOUTS = 6, 3
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "numbers": ("Script", {}),
    "amounts": ("Script", {"env.kwargs": {"box": True}}),
    "images": ("Pictures", {}),
    "masks": ("Masked", {}),
    "memory": ("Script", {"policy.memory": "lstm:6", "policy.bptt": 5}),
    "gru": ("Masked", {"policy.memory": "gru:6", "policy.bptt": 4}),
    "info": ("Script", {"shaping.steps": {"term": "info", "kwargs": {"key": "steps"}}}),
    "metrics": ("Script", {"metrics": {"env/steps": {"source": "steps", "description": "Steps."}}}),
    "faults": (
        "Broken",
        {
            "env.kwargs": {
                "how": "raises",
                "at": 5,
                "only": episode_seed(0, "episode", "agent", 4, 0),
            },
            "facts.deterministic": "yes",
            "algo.n_steps": 40,
        },
    ),
    "observations in traces": ("Script", {"facts.deterministic": "no"}),
    "planned faults": ("Planned", {"env.kwargs": {"plan": {}}, "algo.n_steps": 9}),
    "tasks": (
        "Script",
        {"env.tasks": {"short": {"kwargs": {"length": 3}}, "long": {"kwargs": {"length": 8}}}},
    ),
}
"""Content of a rollout -> environment and settings."""


def config(kind: str, **more: Any) -> Config:
    name, overrides = KINDS[kind]
    small = {"env.n_envs": N, "algo.n_steps": 9, "policy.hidden": [8], "traces.train": "50%"}
    given = {"stop.env_steps": 100_000, **small, **overrides, **more}
    return resolve(f"py:tests.scripted:{name}", given).config


def on_hosts(cfg: Config, hosts: int) -> Config:
    collect = cfg.collect.model_copy(update={"on": "local", "hosts": hosts})
    return cfg.model_copy(update={"collect": collect})


@contextmanager
def opened(cfg: Config, carrier: HereCarrier | None = None) -> Iterator[Collector]:
    """Opens a collector in one process, or on the hosts of a carrier."""
    collector = open_vector_collector(cfg) if carrier is None else ShardedCollector(cfg, carrier)
    try:
        yield collector
    finally:
        collector.close()


def rollouts(
    collector: Collector, cfg: Config, first: int = 0, count: int = ROLLOUTS, engine: str = "native"
) -> list[tuple[CollectResult, dict[str, np.ndarray]]]:
    """Returns rollouts, each with the state of the collector after it. The policy is another one in each."""
    learner = Learner("agent", *collector.spaces["agent"], cfg)
    learner.policy.use_engine(engine)
    span, found = cfg.initial_hyperparameters().rollout_length(), []
    for k in range(first, first + count):
        weights = learner.policy.parameters.views
        draws = np.random.default_rng(k)
        for view in weights.values():
            view[...] = draws.normal(0, 0.4, view.shape)
        clock = Clock(limits=cfg.stop.limits())
        clock.rollouts, clock.env_steps = k, 54 * k
        found.append((collector.collect({"agent": learner.policy}, span, clock), collector.state()))
    return found


def played_here(cfg: Config, engine: str = "native") -> list[Any]:
    with opened(cfg) as collector:
        collector.start_episodes()
        return rollouts(collector, cfg, engine=engine)


@settings(max_examples=30)
@given(st.integers(1, 60), st.data())
def test_copies_are_divided_in_order_into_parts_of_nearly_the_same_size(total: int, data):
    parts = data.draw(st.integers(1, total))
    ranges = CopyRange.divide(total, parts)
    assert [copy for r in ranges for copy in range(total)[r.slice]] == list(range(total))
    assert len(ranges) == parts
    assert {len(r) for r in ranges} <= {total // parts, -(-total // parts)}
    assert all(r.total == total for r in ranges)
    assert CopyRange.divide(total, 1) == [CopyRange.all(total)]


@pytest.mark.parametrize("engine", ["native", "torch"])
@pytest.mark.parametrize("kind", KINDS)
def test_hosts_collect_what_one_process_collects(kind: str, engine: str):
    cfg = config(kind)
    expected = played_here(cfg, engine)
    assert any(len(result.rollouts["agent"].episodes) for result, _ in expected) or "plan" in kind
    assert any(result.faults for result, _ in expected) == (kind == "faults")
    for hosts in (1, 2, 4, N) if engine == "native" else (4,):
        carrier = HereCarrier(seed=hosts)
        with opened(on_hosts(cfg, hosts), carrier) as collector:
            collector.start_episodes()
            for found, wanted in zip(
                rollouts(collector, cfg, engine=engine), expected, strict=True
            ):
                assert_same(found[0], wanted[0])
                assert_same(found[1], wanted[1])
        assert carrier.closed


@pytest.mark.parametrize("kind", ["numbers", "images", "memory", "faults", "tasks"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_hosts_that_die_are_replaced_without_a_trace_in_the_numbers(kind: str, when: str):
    cfg = config(kind)
    expected = played_here(cfg)
    hosts = 3  # messages 1-3 open the environments, 4-6 start the episodes
    for lost in ({2}, {5}, {7, 8}, {10, 11, 12, 13}, {9, 12, 14}):
        carrier = HereCarrier(seed=sum(lost), **{f"lost_{when}": lost})
        with opened(on_hosts(cfg, hosts), carrier) as collector:
            collector.start_episodes()
            found = rollouts(collector, cfg)
        for one, wanted in zip(found, expected, strict=True):
            assert_same(one[0], wanted[0])
            assert_same(one[1], wanted[1])
        assert len(carrier.started) == hosts + len(lost)
        events = [event for result, _ in found for event in result.host_events]
        assert [kind for kind, _ in events].count("host lost") == len(lost)
        assert found[-1][0].host_row["hosts/restarts"] == len(lost)
