"""Runs on hosts: the same numbers, resumed anywhere, and a checkpoint when the hosts stay away."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.collect.shards import dispatch
from gymnast.errors import RunError
from gymnast.runs.run import Run
from gymnast.seeds import episode_seed
from tests.collect.shards.carriers import HereCarrier
from tests.collect.shards.conftest import hosts_here  # noqa: F401
from tests.e2e.run_differences import differences
from tests.small_runs import copy_killed_at, resume_run, train_small

N, STEPS, ROLLOUTS = 6, 8, 5
SETTINGS = {
    "env.n_envs": N,
    "algo.n_steps": STEPS,
    "stop.rollouts": ROLLOUTS,
    "eval.every": "2 rollouts",
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 99,
    "traces.train": "50%",
}
AT = 2 * N * STEPS


def on(hosts: int) -> dict[str, Any]:
    return {"collect.on": "local", "collect.hosts": hosts}


def resumed(run: Run) -> Any:
    return [event for event in run.events() if event["kind"] == "resumed"][-1]


@pytest.mark.usefixtures("hosts_here")
def test_a_run_on_hosts_is_identical_to_one_in_one_process():
    plain = train_small("Script", SETTINGS)
    run = train_small("Script", SETTINGS | on(3))
    assert differences(plain, run) == []
    assert run.rows()["hosts/count"].dropna().tolist() == [3.0] * ROLLOUTS


def test_central_inference_uses_hosts_by_default_and_changes_nothing(
    hosts_here: list[HereCarrier],  # noqa: F811
):
    plain = train_small("Script", SETTINGS)
    assert hosts_here == []
    run = train_small("Script", SETTINGS | {"collect.inference": "central"})
    assert len(hosts_here) == 1
    assert run.config().collect.on == "local"  # as stored
    assert differences(plain, run) == []


@pytest.mark.usefixtures("hosts_here")
@pytest.mark.parametrize(
    "moves", [[on(2)], [{"collect.on": "here"}], [on(6) | {"collect.wait": 9}]]
)
def test_resuming_elsewhere_is_exact_and_says_so(moves: list[dict[str, Any]]):
    plain = train_small("Script", SETTINGS)
    killed = copy_killed_at(train_small("Script", SETTINGS | on(3)), AT)
    resume_run(killed, moves[0])
    event = resumed(killed)
    assert event["bit_exact"]
    assert event["not_exact_because"] == event["changes"] == []
    assert {move["key"] for move in event["moved"]} == moves[0].keys() - {"collect.on"} | (
        {"collect.on"} if moves[0]["collect.on"] == "here" else set()
    )
    assert differences(plain, killed) == []


@pytest.mark.usefixtures("hosts_here")
def test_other_changes_next_to_a_move_are_not_exact():
    killed = copy_killed_at(train_small("Script", SETTINGS), AT)
    resume_run(killed, on(2) | {"algo.lr": 1e-4})
    event = resumed(killed)
    assert not event["bit_exact"]
    assert event["not_exact_because"] == ["settings were changed"]
    assert [change["key"] for change in event["changes"]] == ["algo.lr"]


@pytest.mark.usefixtures("hosts_here")
def test_a_move_alone_does_not_continue_a_finished_run():
    run = train_small("Script", SETTINGS)
    with pytest.raises(RunError, match="is finished"):
        resume_run(run, on(2))


LEARNED = {
    "normalize.obs": "running",
    "normalize.reward": "running",
    "normalize.value": "popart",
    "shaping.mine.term": "py:tests.shaping.own_terms:Pairs",
    "shaping.mine.weight": 0.1,
}
"""Everything that an update changes in addition to the weights."""
STOPPED: dict[str, tuple[dict[str, Any], str]] = {
    "sync": ({}, "ppo"),
    "overlap": ({"collect.mode": "overlap"} | LEARNED, "ppo"),
    "overlap, with a replay buffer": (
        {"collect.mode": "overlap", "algo.warmup": 1, "algo.replay": 60, "algo.batch_size": 8},
        "dqn",
    ),
    "central": ({"collect.inference": "central"}, "ppo"),
}


@pytest.mark.parametrize("case", STOPPED)
def test_hosts_that_stay_away_stop_the_run_with_a_checkpoint(
    case: str, monkeypatch: pytest.MonkeyPatch
):
    more, algo = STOPPED[case]
    settings = SETTINGS | more
    plain = train_small("Script", settings | {"collect.on": "here"}, algo=algo)
    # 1-3 open, 4-6 start, 7-9 the first rollout, 10-12 the second: from then on everything dies.
    # With central inference each vector step is a message, and 160 is in the middle of the third rollout.
    first = 160 if case == "central" else 13
    dying = HereCarrier(lost_before=range(first, 10_000))
    monkeypatch.setattr("gymnast.collect.shards.open.open_carrier", lambda _: dying)
    run = train_small("Script", settings | on(3), algo=algo)
    assert run.info["status"] == "stopped"
    assert run.info["reason_kind"] == "hosts"
    assert f"died {dispatch.MAX_DEATHS} times" in run.info["reason"]
    assert run.info["clocks"]["rollouts"] == 2
    kinds = [event["kind"] for event in run.events()]
    assert kinds.count("host lost") >= dispatch.MAX_DEATHS
    monkeypatch.setattr("gymnast.collect.shards.open.open_carrier", lambda _: HereCarrier())
    resume_run(run, {"collect.hosts": 2})
    assert resumed(run)["bit_exact"]
    assert differences(plain, run) == []


def test_hosts_that_stay_away_stop_an_asynchronous_run_with_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
):
    dying = HereCarrier(lost_before=range(14, 10_000))
    monkeypatch.setattr("gymnast.collect.shards.open.open_carrier", lambda _: dying)
    run = train_small("Script", SETTINGS | on(3) | {"collect.mode": "async"})
    assert run.info["status"] == "stopped"
    assert run.info["reason_kind"] == "hosts"
    assert f"died {dispatch.MAX_DEATHS} times" in run.info["reason"]
    assert run.info["clocks"]["rollouts"] < ROLLOUTS
    monkeypatch.setattr("gymnast.collect.shards.open.open_carrier", lambda _: HereCarrier())
    resume_run(run, {"collect.hosts": 2})
    assert run.info["clocks"]["rollouts"] == ROLLOUTS
    assert "episodes restarted" not in [event["kind"] for event in run.events()]


PROCESSES = {"collect.on": "local", "facts.deterministic": "yes", "eval.every": "off"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "why"),
    {
        "killed": "its process was killed by signal 9",
        "hangs": "it did not answer within 3 s (collect.timeout)",
    }.items(),
)
def test_a_host_whose_environment_harms_its_process_is_replaced(how: str, why: str):
    """A copy does so after a number of episodes that a new copy does not reach in so short a run."""
    timeout = 3.0 if how == "hangs" else 300.0
    trouble = {"env.kwargs": {"how": how, "after": 6}, "collect.timeout": timeout}
    run = train_small("Trouble", SETTINGS | PROCESSES | trouble)
    assert run.info["status"] == "finished"
    lost = [event for event in run.recorded_events() if event["kind"] == "host lost"]
    assert lost
    assert all(event.get("why", "").startswith(why) for event in lost), lost
    assert run.info["clocks"]["env_steps"] == ROLLOUTS * N * STEPS


@pytest.mark.slow
def test_an_environment_that_crashes_every_host_stops_the_run_and_shows_where():
    bad = episode_seed(0, "episode", "agent", 4, 0)
    crash = {"env.kwargs": {"how": "segfault", "at": 12, "only": bad}}
    run = train_small("Broken", SETTINGS | PROCESSES | crash)
    assert run.info["status"] == "stopped"
    assert run.info["clocks"]["rollouts"] == 1
    reason = run.info["reason"]
    assert "host 1 died 5 times with the same orders: its process was killed by signal 11" in reason
    lost = [event for event in run.recorded_events() if event["kind"] == "host lost"]
    assert len(lost) == dispatch.MAX_DEATHS
    assert all("in _shown" in event.get("why", "") for event in lost)  # the stack of the crash
