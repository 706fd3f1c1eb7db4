"""Metrics and events of hosts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gymnast.collect.shards.orders import Collected
from gymnast.collect.shards.reports import SLOW_ROLLOUTS, HostReports
from gymnast.hosts import Difference
from gymnast.metrics.specs import METRICS, metric_for_key
from tests.collect.shards.carriers import HereCarrier
from tests.collect.shards.test_joining import config, on_hosts, opened, rollouts


@pytest.fixture(scope="module")
def part() -> Collected:
    """Returns the part of a rollout of one host."""
    cfg, carrier = on_hosts(config("numbers"), 1), HereCarrier()
    with opened(cfg, carrier) as collector:
        collector.start_episodes()
        answers: list[Collected] = []
        receive = carrier.receive

        def seen(timeout: float):
            answer = receive(timeout)
            if answer is not None and isinstance(answer.value, list):
                answers.append(answer.value[-1])
            return answer

        carrier.receive = seen  # type: ignore[method-assign]
        rollouts(collector, cfg, count=1)
    return answers[0]


def parts(part: Collected, seconds: list[float]) -> list[Collected]:
    return [replace(part, fragment=replace(part.fragment, seconds=s)) for s in seconds]


def test_the_row_of_a_rollout_describes_every_host_and_all_together(part: Collected):
    reports = HostReports(3)
    for host in range(3):
        reports.answered(host, 100 * (host + 1))
    reports.lost(1, "killed")
    row = reports.row(parts(part, [1.0, 2.0, 4.0]), 5.5)
    steps = part.fragment.env_steps
    assert row["hosts/count"] == 3
    assert row["hosts/restarts"] == 1
    assert row["hosts/bytes"] == 600
    assert (row["hosts/slowest"], row["hosts/median"], row["hosts/wait"]) == (4.0, 2.0, 1.5)
    assert [row[f"host{k}:hosts/speed"] for k in range(3)] == [steps, steps / 2, steps / 4]
    assert [row[f"host{k}:hosts/restarts"] for k in range(3)] == [0, 1, 0]
    assert all(not metric_for_key(key, METRICS).exact for key in row)


def test_a_host_that_stays_slow_is_reported_once_and_again_after_a_recovery(part: Collected):
    reports, slow, fine = HostReports(3), [1.0, 3.0, 1.0], [1.0, 1.9, 1.0]
    for _ in range(SLOW_ROLLOUTS - 1):
        reports.row(parts(part, slow), 3.0)
    assert reports.take_events() == []
    for _ in range(4):
        reports.row(parts(part, slow), 3.0)
    detail = {"host": 1, "seconds": 3.0, "median": 1.0}
    assert reports.take_events() == [("host slow", detail)]
    reports.row(parts(part, fine), 3.0)
    for _ in range(SLOW_ROLLOUTS):
        reports.row(parts(part, slow), 3.0)
    assert reports.take_events() == [("host slow", detail)]


@pytest.mark.parametrize("seconds", [[1.0, 3.0], [3.0, 1.0], [1.0, 1.0, 1.0, 3.0]])
def test_one_of_any_number_of_hosts_may_be_slow(part: Collected, seconds: list[float]):
    reports = HostReports(len(seconds))
    rows = [reports.row(parts(part, seconds), 3.0) for _ in range(SLOW_ROLLOUTS)]
    ((_, detail),) = reports.take_events()
    assert detail == {"host": seconds.index(3.0), "seconds": 3.0, "median": 1.0}
    assert rows[0]["hosts/slowest"] > 2 * rows[0]["hosts/median"]


def test_a_single_host_is_never_slow(part: Collected):
    reports = HostReports(1)
    for _ in range(10):
        reports.row(parts(part, [9.0]), 9.0)
    assert reports.take_events() == []


def test_losses_differences_and_restarted_episodes_are_events():
    reports = HostReports(2)
    reports.differs(1, [Difference("cpu", "avx2", "avx", blocks=False)])
    reports.lost(0, "killed")
    reports.replaced(0, 1.23456)
    reports.restarted({4: "why", 5: "why"})
    assert reports.take_events() == [
        ("host differs", {"host": 1, "what": "cpu", "here": "avx2", "there": "avx"}),
        ("host lost", {"host": 0, "why": "killed"}),
        ("host replaced", {"host": 0, "seconds": 1.235}),
        ("episodes restarted", {"copies": [4, 5], "why": "why"}),
    ]
    assert reports.take_events() == []
