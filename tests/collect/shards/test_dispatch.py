"""Orders and answers: losses, late hosts, errors, deadlines, and never the order of arrival."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.collect.shards import dispatch
from gymnast.collect.shards.carrier import Answer, Lost
from gymnast.collect.shards.dispatch import MAX_DEATHS, Dispatch
from gymnast.collect.shards.reports import HostReports
from gymnast.config.sections.collect import CollectConfig
from gymnast.errors import EnvError, HostsMissing
from tests.collect.shards.carriers import ScriptedCarrier

HOSTS = 4


class Time:
    """A clock that moves only while somebody sleeps or waits."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        self.now += 0.01
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(dispatch, "time", clock)
    return clock


class Set:
    """A dispatch with its scripted hosts."""

    def __init__(self, answer, clock: Time, away: str = "", **settings: float) -> None:
        self.carrier = ScriptedCarrier(answer, away)
        receive = self.carrier.receive

        def waiting(timeout: float) -> Answer | None:
            found = receive(timeout)
            clock.now += 0 if found else timeout
            return found

        self.carrier.receive = waiting  # type: ignore[method-assign]
        self.reports = HostReports(HOSTS)
        cfg = CollectConfig(on="local", hosts=HOSTS, **settings)  # type: ignore[arg-type]
        self.dispatch = Dispatch(self.carrier, cfg, lambda host: (f"open {host}",), self.reports)  # type: ignore[arg-type,return-value]

    def ask(self, word: str, **more: Any) -> list[Any]:
        orders: Any = [(f"{word} {host}",) for host in range(HOSTS)]
        return self.dispatch.all(orders, lambda host: (f"load {host}",), "weights", **more)  # type: ignore[arg-type,return-value]

    def kinds(self) -> list[tuple[str, object]]:
        return [(kind, detail["host"]) for kind, detail in self.reports.take_events()]


def works(_host: int, _attempt: int, orders: tuple[str, ...]) -> list[str]:
    return [f"did {order}" for order in orders]


def dies(which: int, times: int, has_worked: bool = True):
    """Returns the answers of hosts of which one dies with its first `times` orders after opening."""

    def answer(host: int, attempt: int, orders: tuple[str, ...]) -> Any:
        if host == which and attempt <= times and orders != (f"open {host}",):
            return Lost(f"end of process {attempt}", has_worked)
        return works(host, attempt, orders)

    return answer


def test_answers_are_in_the_order_of_the_hosts_though_the_last_one_answers_first(clock: Time):
    hosts = Set(works, clock)
    assert hosts.dispatch.open(HOSTS) == [[f"did open {k}"] for k in range(HOSTS)]
    assert hosts.ask("play") == [[f"did play {k}"] for k in range(HOSTS)]
    assert hosts.kinds() == []


def test_a_lost_host_is_replaced_by_one_that_first_gets_its_state(clock: Time):
    hosts = Set(dies(2, 1), clock)
    hosts.dispatch.open(HOSTS)
    answers = hosts.ask("play")
    assert answers[2] == ["did open 2", "did load 2", "did play 2"]
    assert [answer[-1] for answer in answers] == [f"did play {k}" for k in range(HOSTS)]
    assert hosts.carrier.log[-2:] == [
        ("start", 2),
        ("send", 2, ("open 2", "load 2", "play 2"), "weights"),
    ]
    assert hosts.kinds() == [("host lost", 2), ("host replaced", 2)]
    assert hosts.reports.restarts.tolist() == [0, 0, 1, 0]


def test_a_host_lost_while_it_opens_is_opened_again_only(clock: Time):
    hosts = Set(lambda h, n, o: Lost("gone") if (h, n) == (1, 1) else works(h, n, o), clock)
    assert hosts.dispatch.open(HOSTS) == [[f"did open {k}"] for k in range(HOSTS)]


def test_a_host_lost_after_its_answer_is_replaced_with_the_next_orders(clock: Time):
    hosts = Set(works, clock)
    hosts.dispatch.open(HOSTS)
    receive, seen = hosts.carrier.receive, []

    def dying(timeout: float) -> Answer | None:
        answer = receive(timeout)
        seen.append(answer)
        if len(seen) == 1:  # host 3 has answered, and dies while the others work
            hosts.carrier.idle_losses.append(Answer(3, Lost("idle")))
        return answer

    hosts.carrier.receive = dying  # type: ignore[method-assign]
    assert hosts.ask("play") == [[f"did play {k}"] for k in range(HOSTS)]
    assert hosts.kinds() == []
    assert hosts.ask("continue")[3] == ["did open 3", "did load 3", "did continue 3"]
    assert hosts.kinds() == [("host lost", 3), ("host replaced", 3)]


def test_hosts_without_orders_are_left_alone(clock: Time):
    hosts = Set(works, clock)
    hosts.dispatch.open(HOSTS)
    orders: Any = [(), ("play 1",), (), ()]
    assert hosts.dispatch.all(orders, lambda _: ()) == [[], ["did play 1"], [], []]


def test_orders_that_kill_every_host_are_given_up(clock: Time):
    hosts = Set(dies(0, 99), clock)
    hosts.dispatch.open(HOSTS)
    with pytest.raises(HostsMissing, match=f"host 0 died {MAX_DEATHS} times .*: end of process"):
        hosts.ask("play")
    assert hosts.reports.restarts[0] == MAX_DEATHS


def test_fewer_deaths_than_that_are_survived_in_every_rollout_anew(clock: Time):
    hosts = Set(
        lambda h, n, o: Lost("gone") if h == 1 and n % MAX_DEATHS else works(h, n, o), clock
    )
    hosts.dispatch.open(HOSTS)
    for _ in range(3):
        assert [answer[-1] for answer in hosts.ask("play")] == [f"did play {k}" for k in range(4)]
        hosts.carrier.attempts[1] = 1


def test_a_host_that_does_not_answer_in_time_is_ended_and_replaced(clock: Time):
    def answer(host: int, attempt: int, orders: tuple[str, ...]) -> Any:
        if host == 1 and attempt == 1 and orders == ("play 1",):
            return None
        return works(host, attempt, orders)

    hosts = Set(answer, clock, timeout=7.0)
    hosts.dispatch.open(HOSTS)
    began = clock.now
    assert hosts.ask("play")[1][-1] == "did play 1"
    assert 7 < clock.now - began < 9
    assert ("end", 1) in hosts.carrier.log
    (lost, _) = hosts.reports.take_events()
    assert lost[1]["why"] == "it did not answer within 7 s (collect.timeout)"


def test_a_late_host_is_noticed_though_others_answer_all_the_time(clock: Time):
    # With collect.mode=async each host gets its next orders at once.
    hosts = Set(lambda h, n, o: None if h == 1 and n == 1 else works(h, n, o), clock, timeout=7.0)
    for host in (1, 3):
        hosts.carrier.start(host)
        hosts.dispatch.send(host, lambda is_new: (("again" if is_new else "play",), None))  # type: ignore[arg-type,return-value]
    began = clock.now
    while not (lost := hosts.kinds()):
        answer = hosts.dispatch.receive(1.0)
        clock.now += 0.1
        assert answer is not None, "host 3 always answers"
        assert answer.host == 3
        hosts.dispatch.send(3, lambda _: (("play",), None))  # type: ignore[arg-type,return-value]
    assert lost == [("host lost", 1)]
    assert 7 < clock.now - began < 9
    assert hosts.carrier.log.index(("end", 1)) < hosts.carrier.log.index(
        ("send", 1, ("again",), None)
    )


def test_a_host_that_waits_for_a_free_cpu_is_not_late(clock: Time):
    hosts = Set(works, clock, away="no CPU is free", timeout=3.0, wait=30.0)
    answer, hosts.carrier.answer = hosts.carrier.answer, lambda *_: None
    hosts.dispatch.send(0, lambda _: (("play",), None))  # type: ignore[arg-type,return-value]
    for _ in range(10):
        assert hosts.dispatch.receive(1.0) is None
    hosts.carrier.away = ""  # it has started, and needs a second
    assert hosts.dispatch.receive(1.0) is None
    hosts.carrier.answer = answer
    assert hosts.dispatch.receive(1.0) is not None
    assert hosts.kinds() == []


def test_hosts_that_cannot_be_started_are_waited_for_and_then_given_up(clock: Time):
    hosts = Set(dies(0, 10**9, has_worked=False), clock, wait=30.0)
    hosts.dispatch.open(HOSTS)
    hosts.carrier.away, began = "the cluster has 2 CPUs", clock.now
    away = r"host 0 has been away for 3\d s .*; the cluster has 2"
    with pytest.raises(HostsMissing, match=away) as raised:
        hosts.ask("play")
    assert 30 < clock.now - began < 35
    assert [kind for kind, _ in raised.value.events] == ["host lost"]  # not one per attempt


def test_a_host_that_comes_back_in_time_continues(clock: Time):
    hosts = Set(dies(0, 20, has_worked=False), clock, wait=30.0)
    hosts.dispatch.open(HOSTS)
    assert hosts.ask("play")[0] == ["did open 0", "did load 0", "did play 0"]
    (_, (kind, detail)) = hosts.reports.take_events()
    assert kind == "host replaced"
    assert 10 < float(str(detail["seconds"])) < 30


def test_hosts_that_never_start_are_given_up_when_the_run_is_opened(clock: Time):
    hosts = Set(lambda *_: None, clock, away="no CPU is free", wait=20.0)
    with pytest.raises(HostsMissing, match="it has not started; no CPU is free"):
        hosts.dispatch.open(HOSTS)


def test_the_error_of_an_order_is_raised_as_it_is(clock: Time):
    problem = EnvError("the physics went wrong")
    hosts = Set(lambda h, n, o: problem if h == 3 else works(h, n, o), clock)
    with pytest.raises(EnvError) as raised:
        hosts.dispatch.open(HOSTS)
    assert raised.value is problem
