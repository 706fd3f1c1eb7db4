"""Runs with collect.mode=async, on hosts that are processes of this machine."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from gymnast.collect.shards.async_collector import AsyncCollector
from gymnast.config.resolve import resolve
from gymnast.config.serialize import to_plain
from gymnast.errors import ConfigError
from gymnast.runs import checkpoint
from tests.small_runs import copy_killed_at, resume_run, rows, train_small
from tests.waiting import wait_for

N, T = 4, 16
ROLLOUT = N * T
ASYNC = {
    "env.n_envs": N,
    "algo.n_steps": T,
    "collect.on": "local",
    "collect.hosts": 2,
    "collect.mode": "async",
    "stop.env_steps": 12 * ROLLOUT,
    "eval.every": "off",
    "checkpoint.every": "3 rollouts",
    "checkpoint.keep": 20,
}


def test_a_run_reports_its_staleness_and_that_it_cannot_be_repeated():
    settings = ASYNC | {"normalize.reward": "running", "traces.train": "100%"}
    run = train_small("CartPole-v1", settings)
    found = rows(run)
    assert run.info["status"] == "finished"
    assert not run.info["repeatable"]
    assert len(found) == 12
    assert found[-1]["clock/env_steps"] == 12 * ROLLOUT
    assert all(0 <= row["hosts/staleness"] <= row["hosts/staleness_max"] <= 4 for row in found)
    # How many parts are too old depends on the machine: each of them is an event.
    has_dropped = any(event["kind"] == "part dropped" for event in run.events())
    assert any(row["hosts/dropped"] > 0 for row in found) == has_dropped
    assert all(0 <= row["hosts/clipped_rho"] <= 1 for row in found)
    assert any("host0:hosts/staleness" in row or "host1:hosts/staleness" in row for row in found)
    assert found[0]["hosts/staleness_max"] == 0  # there is only one policy yet


@pytest.mark.slow
def test_a_killed_run_resumes_on_another_number_of_hosts_and_says_that_it_is_not_exact():
    run = train_small("CartPole-v1", ASYNC)
    killed = copy_killed_at(run, 6 * ROLLOUT)
    stored = checkpoint.latest(killed.path).tensors("collector")
    # both hosts together have sent two parts per rollout, in whatever proportion
    assert stored["async_number"][[0, N // 2]].sum() >= 12
    resumed = resume_run(killed, {"collect.hosts": 4})
    assert resumed.info["status"] == "finished"
    assert rows(resumed)[-1]["clock/env_steps"] == 12 * ROLLOUT
    (event,) = [e for e in resumed.events() if e["kind"] == "resumed"]
    assert not event["bit_exact"]
    assert any("asynchronously" in reason for reason in event["not_exact_because"])
    assert not any("restarted" in reason for reason in event["not_exact_because"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "algo", "more"),
    [
        ("Pictures", "ppo", {"policy.hidden": []}),
        ("Script", "a2c", {}),
        ("CartPole-v1", "ppo", {"engine": "torch", "normalize.obs": "running"}),
    ],
)
def test_images_other_algorithms_and_engines_learn_asynchronously(
    env: str, algo: str, more: dict[str, Any]
):
    run = train_small(env, ASYNC | {"stop.env_steps": 6 * ROLLOUT} | more, algo=algo)
    assert run.info["status"] == "finished"
    assert {"hosts/staleness", "hosts/clipped_rho", "value/loss"} <= rows(run)[-1].keys()


@pytest.mark.slow
def test_a_killed_host_is_replaced_and_the_run_continues(monkeypatch: pytest.MonkeyPatch):
    collect = AsyncCollector.collect

    def killing(self: AsyncCollector, policies: Any, span: Any, clock: Any, *more: Any) -> Any:
        if clock.rollouts == 3:
            pid = self._sharded.hosts.carrier.pid(1)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        elif clock.rollouts == 4:
            pump, events = self._pump, self._sharded.hosts.reports._events
            assert pump is not None
            pump.learner_waits = (
                True  # a host without orders is replaced when it should do something
            )
            wait_for(lambda: any(kind == "host replaced" for kind, _ in [*events]))
        return collect(self, policies, span, clock, *more)

    monkeypatch.setattr(AsyncCollector, "collect", killing)
    run = train_small("CartPole-v1", ASYNC)
    assert run.info["status"] == "finished"
    kinds = [event["kind"] for event in run.events()]
    assert kinds.count("host lost") == kinds.count("host replaced") == 1
    assert rows(run)[-1]["host1:hosts/restarts"] == 1


AUTO: dict[str, tuple[dict[str, Any], str]] = {
    "alone": ({}, "here"),
    "overlap": ({"collect.mode": "overlap"}, "here"),
    "async": ({"collect.mode": "async"}, "local"),
    "central": ({"collect.inference": "central"}, "local"),
    "central, explicitly here": ({"collect.inference": "central", "collect.on": "here"}, "here"),
    "ray": ({"collect.mode": "async", "collect.on": "ray"}, "ray"),
    "auto": ({"collect.mode": "async", "collect.on": "auto"}, "local"),
}


@pytest.mark.parametrize("case", AUTO)
@pytest.mark.parametrize("target", ["CartPole-v1", "ALE/Pong-v5:pixels"])
def test_modes_that_need_hosts_use_processes_of_this_machine(target: str, case: str):
    more, place = AUTO[case]
    config = resolve(target, more).config
    assert config.collect.on == place
    assert to_plain(config)["collect"]["on"] == place  # type: ignore[index]


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "dqn": ({}, "dqn", "replay buffer"),
    "reinforce": ({}, "reinforce", "whole episodes"),
    "here": ({"collect.on": "here"}, "ppo", "async needs hosts"),
    "memory": ({"policy.memory": "gru:8"}, "ppo", "policy.memory"),
    "shaping": ({"shaping.x.term": "tests.shaping.informative:speed"}, "ppo", "shaping"),
    "division": ({"collect.hosts": 3}, "ppo", "divided equally"),
    "central": ({"collect.inference": "central"}, "ppo", "central inference"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_learn_asynchronously_is_refused_with_the_reason(case: str):
    more, algo, reason = REFUSED[case]
    given = {key: value for key, value in ASYNC.items() if not key.startswith("algo.")} | more
    with pytest.raises(ConfigError, match=reason):
        resolve("CartPole-v1", given, algo=algo)
