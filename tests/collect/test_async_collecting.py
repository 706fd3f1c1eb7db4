"""collect.mode=async: rollouts of the parts that arrive first, with hosts whose order of answers is given."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.collect import replay
from gymnast.collect.collector import CollectResult
from gymnast.collect.shards import dispatch
from gymnast.collect.shards.async_collector import AsyncCollector
from gymnast.collect.shards.carrier import Answer, Lost
from gymnast.collect.shards.collector import ShardedCollector
from gymnast.collect.shards.host import Host
from gymnast.collect.shards.orders import Collect, Load, Open
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.errors import EnvError, HostsMissing
from gymnast.policy.normalize import RewardScale
from gymnast.policy.policy import Policy
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner
from tests.waiting import wait_for

N, HOSTS, T = 6, 3, 5
LOSS, AWAY = "lost", "away"


class ManualCarrier:
    """Hosts in this process, which answer in the order of `script`: numbers of hosts, or (number, LOSS) for
    one that is lost, (number, AWAY) for one that cannot be started. Every order is answered at once until
    `script` is set."""

    def __init__(self) -> None:
        self.hosts: dict[int, Host] = {}
        self.orders: dict[int, tuple[Sequence[Any], Any]] = {}
        self.script: deque[int | tuple[int, str]] | None = None
        self.sent: list[tuple[int, tuple[type, ...]]] = []
        self.away: set[int] = set()

    def start(self, host: int) -> None:
        self.end(host)
        self.hosts[host] = Host()

    def share(self, parameters: dict[str, np.ndarray]) -> object:
        return {name: array.copy() for name, array in parameters.items()}

    def send(self, host: int, orders: Sequence[Any], parameters: object = None) -> None:
        assert host not in self.orders, "a host has at most one message at a time"
        self.orders[host] = orders, parameters
        self.sent.append((host, tuple(type(order) for order in orders)))

    def receive(self, timeout: float) -> Answer | None:
        if self.script is None:
            following: Any = next(iter(self.orders), None)
        else:
            following = self.script[0] if self.script else None
        host = following[0] if isinstance(following, tuple) else following
        if host not in self.orders:
            time.sleep(min(timeout, 0.001))
            return None
        if self.script:
            self.script.popleft()
        orders, parameters = self.orders.pop(host)
        self.away.discard(host)
        if isinstance(following, tuple) and following[1] == AWAY:
            self.away.add(host)
            return Answer(host, Lost("no CPU is free", has_worked=False))
        if isinstance(following, tuple):
            return Answer(host, Lost("it was killed"))
        return Answer(host, self.hosts[host].carry_out(orders, parameters), 100)

    def pid(self, host: int) -> int | None:
        return None if host in self.away else host + 1

    def describe(self) -> str:
        return ""

    def end(self, host: int) -> None:
        self.orders.pop(host, None)
        if host in self.hosts:
            self.hosts.pop(host).close()

    def close(self) -> None:
        for host in list(self.hosts):
            self.end(host)


class Setup:
    """A collector with hosts that answer by script, and a policy to collect with."""

    def __init__(self, **settings: Any) -> None:
        given = {
            "env.n_envs": N,
            "algo.n_steps": T,
            "collect.on": "local",
            "collect.hosts": HOSTS,
            "collect.mode": "async",
            "policy.hidden": [8],
            "stop.env_steps": 10_000,
            "traces.train": "100%",
        }
        self.cfg: Config = resolve("py:tests.scripted:Script", given | settings, algo="ppo").config
        self.carrier = ManualCarrier()
        self.collector = AsyncCollector(ShardedCollector(self.cfg, self.carrier))
        self.learner = Learner("agent", *self.collector.spaces["agent"], self.cfg)
        self.clock = Clock(limits=self.cfg.stop.limits())
        self.policy: Policy = self.learner.policy

    def start(self) -> Setup:
        self.collector.start_episodes()
        self.carrier.sent.clear()
        return self

    def collect(self, *answers: int | tuple[int, str]) -> CollectResult:
        """Returns the next rollout if hosts answer in this order; counts it as followed by an update."""
        self.carrier.script = deque([*(self.carrier.script or ()), *answers])
        span = self.cfg.algo.values_at(self.clock).rollout_length()
        result = self.collector.collect({"agent": self.policy}, span, self.clock)
        self.clock.rollouts += 1
        self.clock.env_steps += result.steps
        return result


@pytest.fixture
def setup() -> Iterator[Setup]:
    made = Setup().start()
    yield made
    made.collector.close()


def rollout_of(result: CollectResult) -> Any:
    return result.rollouts["agent"]


def test_a_rollout_consists_of_the_parts_that_arrive_first_also_of_one_host(setup: Setup):
    rollout = rollout_of(setup.collect(2, 0, 2))
    assert rollout.copies.tolist() == [4, 5, 0, 1, 4, 5]
    assert rollout.staleness.tolist() == [0] * N
    assert rollout.reward.shape == (T, N)
    # the second part of host 2 continues where its first ended
    assert np.array_equal(rollout.obs[0, 4:], _following(rollout, [0, 1]))
    following = rollout_of(setup.collect(1, 1, 0))
    assert following.copies.tolist() == [2, 3, 2, 3, 0, 1]
    assert np.array_equal(following.obs[0, 4:], _following(rollout, [2, 3]))


def _following(rollout: Any, columns: list[int]) -> np.ndarray:
    """Returns the observations that the next part of these columns starts with."""
    return rollout.last_obs[columns]


def test_every_part_equals_what_one_process_collects_for_these_copies(setup: Setup):
    """Seeds and action noise depend on the copy and the number of its part, not on when it arrives."""
    parts = [rollout_of(setup.collect(*order)) for order in ((2, 0, 2), (1, 1, 0), (0, 2, 1))]
    alone = open_collector(
        resolve(
            "py:tests.scripted:Script",
            {"env.n_envs": N, "algo.n_steps": T, "stop.env_steps": 10_000},
            algo="ppo",
        ).config
    )
    alone.start_episodes()
    clock, seen = Clock(), Counter[int]()
    span = setup.cfg.algo.values_at(clock).rollout_length()
    whole = []
    for number in range(3):
        clock.rollouts = number
        whole.append(rollout_of(alone.collect({"agent": setup.policy}, span, clock)))
    for rollout in parts:
        for column, copy in enumerate(rollout.copies.tolist()):
            expected = whole[seen[copy]]
            for name in ("obs", "action", "reward", "logprob", "done", "start"):
                own, other = getattr(rollout, name)[:, column], getattr(expected, name)[:, copy]
                assert np.array_equal(own, other), name
            seen[copy] += 1
    assert sum(seen.values()) == 3 * N
    alone.close()


def test_staleness_is_the_number_of_updates_since_the_policy_that_collected(setup: Setup):
    setup.collect(0, 1, 0)
    setup.collect(0, 1, 0)
    rollout = rollout_of(setup.collect(1, 2, 0))  # host 2 has worked since the first policy
    by_copy = dict(zip(rollout.copies.tolist(), rollout.staleness.tolist(), strict=True))
    assert by_copy[4] == by_copy[5] == 2
    assert max(by_copy[copy] for copy in range(4)) <= 1


def test_a_part_that_is_too_old_is_dropped_and_reported_and_its_episodes_continue():
    made = Setup(**{"collect.max_staleness": 1}).start()
    for _ in range(3):
        made.collect(0, 1, 0)
    found = made.collect(2, 1, 0, 1)
    rollout = rollout_of(found)
    assert 4 not in rollout.copies
    assert rollout.staleness.max() <= 1
    assert found.host_row["hosts/dropped"] == 2 * T
    assert found.steps == N * T
    (event,) = [detail for kind, detail in found.host_events if kind == "part dropped"]
    assert event == {"host": 2, "staleness": 3, "env_steps": 2 * T}
    # the next part of that host was ordered with the newest policy, and continues its episodes
    later = rollout_of(made.collect(2, 0, 1))
    columns = [later.copies.tolist().index(copy) for copy in (4, 5)]
    assert later.staleness[columns].tolist() == [1, 1]
    state = made.collector.state()
    assert state["async_number"].tolist()[4:] == [2, 2]
    made.collector.close()


def test_hosts_wait_while_a_rollout_is_ready_and_the_learner_is_busy(setup: Setup):
    setup.collect(0, 1, 2)
    setup.carrier.script = None  # every host answers at once from now on
    pump = setup.collector._pump
    assert pump is not None
    # one rollout was taken, and everything else that was ordered waits to be
    wait_for(lambda: pump.queue.is_full and len(setup.carrier.sent) == HOSTS + len(pump.queue))
    assert HOSTS <= len(pump.queue) < 2 * HOSTS
    found = setup.collect()
    assert rollout_of(found).staleness.max() == 1


def test_a_lost_host_is_replaced_from_the_state_after_its_last_part(setup: Setup):
    other = Setup().start()
    orders = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    lossy = ((0, 1, 2), (1, (2, LOSS), 2, 0), ((0, LOSS), 2, (0, LOSS), 0, 1))
    for plain, killed in zip(orders, lossy, strict=True):
        one, two = setup.collect(*plain), other.collect(*killed)
        for name in ("obs", "action", "reward", "logprob", "value", "copies"):
            assert np.array_equal(getattr(rollout_of(one), name), getattr(rollout_of(two), name))
        assert [trace.seed for trace in one.traces] == [trace.seed for trace in two.traces]
    assert (2, (Open, Load, Collect)) in other.carrier.sent
    assert two.host_row["hosts/restarts"] == 3
    assert two.host_row["host0:hosts/restarts"] == 2
    kinds = [kind for kind, _ in two.host_events]
    assert kinds.count("host lost") == 2
    assert kinds.count("host replaced") == 1
    other.collector.close()


def test_hosts_that_die_again_and_again_end_the_collection(setup: Setup):
    with pytest.raises(HostsMissing, match="host 1 died 5 times with the same orders: it was kill"):
        setup.collect(*[(1, LOSS)] * 5)


@pytest.fixture
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "RETRY_SECONDS", 0.001)


@pytest.mark.usefixtures("no_delay")
def test_a_host_that_cannot_be_started_is_waited_for(setup: Setup):
    """More often than hosts may die, since failing to start says nothing about the orders."""
    other = Setup().start()
    plain = setup.collect(0, 1, 2)
    late = other.collect(0, (1, LOSS), *[(1, AWAY)] * 3 * dispatch.MAX_DEATHS, 1, 2)
    for name in ("obs", "action", "reward", "logprob"):
        assert np.array_equal(getattr(rollout_of(plain), name), getattr(rollout_of(late), name))
    assert [(kind, detail["host"]) for kind, detail in late.host_events] == [
        ("host lost", 1),
        ("host replaced", 1),
    ]
    other.collector.close()


@pytest.mark.usefixtures("no_delay")
def test_a_host_that_stays_away_ends_the_collection_only_after_the_deadline():
    made = Setup(**{"collect.wait": 0.2}).start()
    began = time.monotonic()
    with pytest.raises(HostsMissing, match=r"host 1 has been away for 0 s .*: no CPU is free"):
        made.collect(*[(1, AWAY)] * 10_000)
    assert time.monotonic() - began > 0.2
    made.collector.close()


def test_a_successor_with_other_code_ends_the_collection(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
):
    open_shard = Host._open

    def foreign(host: Host, order: Open) -> Any:
        opened = open_shard(host, order)
        return replace(opened, facts=replace(opened.facts, code="another", host="far"))

    setup.collect(0, 1, 2)
    monkeypatch.setattr(Host, "_open", foreign)
    with pytest.raises(HostsMissing, match=r"far differs from .*: gymnast: .* another") as raised:
        setup.collect((1, LOSS), 1)
    assert [kind for kind, _ in raised.value.events] == ["host lost", "host replaced"]
    assert set(setup.collector.state()) >= {"obs", "async_number"}  # it can still be saved


def test_episodes_that_a_successor_cannot_restore_are_reported(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
):
    setup.collect(0, 1, 2)
    monkeypatch.setattr(replay, "restore", lambda *_: {1: "its observation differs"})
    found = setup.collect((2, LOSS), 2, 0, 1)
    (event,) = [detail for kind, detail in found.host_events if kind == "episodes restarted"]
    assert event == {"copies": [5], "why": "its observation differs"}
    rollout = rollout_of(found)
    assert rollout.start[0, rollout.copies.tolist().index(5)]


def test_an_error_of_an_environment_is_raised_where_the_learner_waits(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("in a wrapper")

    monkeypatch.setattr(Host, "_collect", fail)
    with pytest.raises(EnvError, match="ZeroDivisionError: in a wrapper"):
        setup.collect(0)


def test_a_stored_state_continues_on_another_number_of_hosts_and_in_one_process(setup: Setup):
    setup.collect(0, 1, 0)
    setup.collect(2, 1, 0)
    setup.carrier.script = deque()
    wait_for(lambda: len(setup.carrier.orders) == HOSTS)
    state = setup.collector.state()
    other = Setup(**{"collect.hosts": 2})
    assert other.collector.load(state) == {}
    assert other.collector.state()["async_number"].tolist() == [3] * N  # never noise twice
    rollout = rollout_of(other.collect(0, 1))
    assert np.array_equal(rollout.obs[0], state["obs"])
    here = open_collector(setup.cfg.model_copy(update={"collect": _here(setup.cfg)}))
    assert here.load(state) == {}
    found = here.collect(
        {"agent": setup.policy}, other.cfg.algo.values_at(Clock()).rollout_length(), Clock()
    )
    assert np.array_equal(rollout_of(found).obs[0], state["obs"])
    here.close()
    other.collector.close()


def _here(cfg: Config) -> Any:
    return cfg.collect.model_copy(update={"on": "here", "mode": "sync"})


def test_parts_of_one_rollout_have_the_same_number_of_steps(setup: Setup):
    setup.collect(0, 1, 0)
    shorter = replace(setup.cfg.algo.values_at(setup.clock).rollout_length(), steps=2)
    # hosts 1 and 2 have orders of five steps each; the orders after them have two
    setup.carrier.script = deque([1, 2, 0, 1, 1])
    found = setup.collector.collect({"agent": setup.policy}, shorter, setup.clock)
    assert found.vec_steps in (2, T)
    assert rollout_of(found).reward.shape == (found.vec_steps, N)


def test_discounted_returns_are_carried_along_the_episodes_of_each_copy():
    rng = np.random.default_rng(0)
    reward, done = rng.normal(size=(9, 4)), rng.random((9, 4)) < 0.2
    plain = RewardScale("running", 4)
    for part in range(3):
        rows = slice(3 * part, 3 * part + 3)
        plain(reward[rows], done[rows], np.ones((3, 4), bool), gamma=0.9)
    # copies 2 and 3 are two parts ahead, then the others follow
    mixed = RewardScale("running", 4)
    first = [(0, [2, 3]), (1, [2, 3])], [(0, [0, 1]), (1, [0, 1])], [(2, [3, 2]), (2, [0, 1])]
    for parts in first:
        copies = np.concatenate([of for _, of in parts])
        blocks = [(slice(3 * k, 3 * k + 3), of) for k, of in parts]
        joined = [
            np.concatenate([x[rows][:, of] for rows, of in blocks], 1) for x in (reward, done)
        ]
        mixed(*joined, np.ones((3, 4), bool), gamma=0.9, copies=copies)
    assert np.allclose(mixed.running_return, plain.running_return)
    assert mixed.moments.count == plain.moments.count
    assert mixed.scale == pytest.approx(plain.scale)
