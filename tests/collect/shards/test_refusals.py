"""Hosts refuse what they cannot collect before a run is created, with the reason and a way out."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from gymnast.collect.shards.orders import Opened
from gymnast.collect.shards.ray_carrier import RayCarrier
from gymnast.config.problems import InvalidConfig
from gymnast.config.resolve import resolve
from gymnast.config.sections.collect import CollectConfig
from gymnast.errors import ConfigError, GymnastError, HostsMissing
from gymnast.training.collectors import open_collector
from tests.collect.shards.carriers import HereCarrier
from tests.collect.shards.test_joining import config, on_hosts, opened, rollouts

LOCAL = {"collect.on": "local", "stop.env_steps": 1000}

INVALID = {
    "matches": (
        "tag",
        {},
        "collect.on: matches are collected here: opponents are chosen among past selves",
    ),
    "more hosts than copies": (
        "CartPole-v1",
        {"env.n_envs": 4, "collect.hosts": 5},
        r"collect.hosts: 5 hosts cannot share 4 env copies \(expected at most env.n_envs\)",
    ),
    "envpool": (
        "CartPole-v1",
        {"env.backend": "envpool"},
        r"env.backend: EnvPool ignores the seeds of single copies",
    ),
}


@pytest.mark.parametrize(("target", "overrides", "message"), INVALID.values(), ids=INVALID)
def test_settings_that_contradict_hosts_are_refused(target: str, overrides: dict, message: str):
    with pytest.raises(InvalidConfig, match=message):
        resolve(target, LOCAL | overrides)
    resolve(target, LOCAL | overrides | {"collect.on": "here"})


def test_whole_episodes_are_refused(hosts_here: list[HereCarrier]):
    cfg = resolve("CartPole-v1", LOCAL, algo="reinforce").config
    with pytest.raises(ConfigError, match="reinforce collects whole episodes") as raised:
        open_collector(cfg)
    assert "collect.on=here" in raised.value.fix
    assert hosts_here == []  # no host was started for this


def test_copies_that_share_a_generator_are_refused(hosts_here: list[HereCarrier]):
    cfg = resolve("CartPole-v1", LOCAL | {"env.backend": "vector"}).config
    with pytest.raises(ConfigError, match="share one random generator") as raised:
        open_collector(cfg)
    assert raised.value.fix == "set env.backend=inprocess"
    assert hosts_here[0].closed


def test_masks_are_refused_for_algorithms_that_ignore_them(hosts_here: list[HereCarrier]):
    cfg = resolve("py:tests.scripted:Masked", LOCAL, algo="dqn").config
    with pytest.raises(ConfigError, match="dqn does not support action masks"):
        open_collector(cfg)
    assert hosts_here[0].closed


class Foreign(HereCarrier):
    """Hosts of which some differ from the training process, in these facts."""

    def __init__(self, from_start: int, **facts: Any) -> None:
        """`from_start`: the number of the first host, in the order of their starts, that differs."""
        super().__init__(lost_before={6})  # 1-2 open, 3-4 start, 5-6 collect
        self.from_start, self.facts = from_start, facts

    def receive(self, timeout: float):
        answer = super().receive(timeout)
        if answer is not None and isinstance(answer.value, list):
            for one in answer.value:
                if isinstance(one, Opened) and len(self.started) >= self.from_start:
                    for name, value in self.facts.items():
                        target = one if hasattr(one, name) else one.facts
                        object.__setattr__(target, name, value)
        return answer


def test_hosts_with_other_code_are_refused_at_the_start():
    carrier = Foreign(1, code="another", host="far")
    with pytest.raises(GymnastError, match=r"far differs from .*: gymnast: .* another"):
        opened(on_hosts(config("numbers"), 2), carrier).__enter__()
    assert carrier.closed


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"code": "another", "host": "far"}, "far differs from .*: gymnast"),
        ({"instruction_sets": (), "host": "far"}, "far lacks .*, with which this run computes"),
    ],
)
def test_a_successor_with_which_the_numbers_would_change_stops_the_run(facts, message: str):
    cfg = on_hosts(config("numbers"), 2)
    with opened(cfg, Foreign(3, **facts)) as collector:
        collector.start_episodes()
        before = collector.state()
        with pytest.raises(HostsMissing, match=message):
            rollouts(collector, cfg, count=1)
        assert before.keys() == collector.state().keys()  # it can still be saved


def test_hosts_with_another_cpu_are_reported():
    cfg = on_hosts(config("numbers"), 2)
    with opened(cfg, Foreign(1, instructions=("avx",))) as collector:
        collector.start_episodes()
        ((result, _),) = rollouts(collector, cfg, count=1)
    differs = [detail for kind, detail in result.host_events if kind == "host differs"]
    assert {(one["what"], one["there"]) for one in differs} == {("cpu", "avx")}


def test_an_address_at_which_nothing_listens_is_an_error_at_once():
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, but not listening
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(HostsMissing, match=f"no Ray cluster at {address}: .*refused"):
            RayCarrier(CollectConfig(on="ray", address=address))
