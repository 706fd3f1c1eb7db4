"""A run applies commands while it trains, records them, and applies them again when resumed."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gymnast import api
from gymnast.errors import ConfigError
from gymnast.runs import checkpoint, inbox, store
from gymnast.runs.run import Run
from tests.scripted import Alarm
from tests.small_runs import (
    Plan,
    assert_same_run,
    checkpoint_arrays,
    copy_killed_at,
    evaluations,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    train_small,
    train_with_commands,
)
from tests.waiting import wait_for

N, T = 2, 16
ROLLOUT = N * T
SETTINGS = {
    "env.n_envs": N,
    "algo.n_steps": T,
    "algo.lr": "3e-3 -> 0",
    "stop.env_steps": 8 * ROLLOUT,
    "eval.every": "3 rollouts",
    "eval.max_episode_steps": 40,
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 40,
    "traces.train": "100%",
}
CHANGES: Plan = {
    1: [("set", {"algo.lr": 1e-3})],
    2: [("set", {"algo.clip": "0.3 -> 0.1 cosine", "algo.epochs": 3}), ("evaluate", {})],
    3: [("evaluate", {}), ("set", {"algo.lr": "2e-3 -> 1e-4"}), ("set", {"algo.value_clip": 0.2})],
    4: [("set", {"algo.n_steps": 8}), ("set", {"eval.every": "2 rollouts"})],
    5: [("evaluate", {}), ("set", {"stop.env_steps": 10 * ROLLOUT})],
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYMNAST_RUNS", str(tmp_path_factory.mktemp("changed")))
        return train_with_commands("CartPole-v1", SETTINGS, CHANGES)


def events(run: Run, kind: str) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["kind"] == kind]


def test_a_live_change_applies_from_the_next_rollout_and_is_recorded(changed: Run):
    changes = events(changed, "live change")
    assert [e["rollouts"] for e in changes] == [1, 2, 3, 3, 4, 4, 5]
    assert changes[0]["changes"] == [{"key": "algo.lr", "from": "0.003 -> 0", "to": 0.001}]
    assert changes[0]["by"] == "test"
    record = {int(r["clock/rollouts"]): r for r in rows(changed) if "policy/loss" in r}
    assert record[1]["hyper/lr"] == 3e-3
    assert record[2]["hyper/lr"] == record[3]["hyper/lr"] == 1e-3
    share = record[3]["clock/env_steps"] / (8 * ROLLOUT)
    assert record[4]["hyper/lr"] == pytest.approx(2e-3 + (1e-4 - 2e-3) * share)
    assert "hyper/value_clip" not in record[3]
    assert record[4]["hyper/value_clip"] == 0.2
    assert [record[i]["optim/epochs"] for i in (2, 3)] == [2, 3]
    steps = [record[i]["clock/env_steps"] - record[i - 1]["clock/env_steps"] for i in (4, 5)]
    assert steps == [ROLLOUT, ROLLOUT // 2]
    assert changed.info["clocks"]["env_steps"] == 10 * ROLLOUT
    assert not any(alert["id"] == "optim/epochs:impossible" for alert in changed.info["alerts"])


def test_a_commanded_evaluation_is_received_at_once_and_does_not_change_training(changed: Run):
    assert [e["rollouts"] for e in events(changed, "evaluation asked")] == [2, 3, 5]
    at = [(taken // ROLLOUT, version // ROLLOUT) for taken, version in evaluations(changed)]
    assert at[:2] == [(2, 2), (3, 3)]
    plain = train_with_commands("CartPole-v1", SETTINGS, {})
    asked = train_with_commands(
        "CartPole-v1", SETTINGS, {2: [("evaluate", {})], 3: [("evaluate", {})]}
    )
    assert same_arrays(checkpoint_arrays(asked), checkpoint_arrays(plain))
    assert len(evaluations(asked)) == len(evaluations(plain)) + 1  # the one of rollout 3 was due
    assert checkpoint.find(asked.path, 2 * ROLLOUT).manifest["reason"] == "evaluation asked"


@pytest.mark.parametrize("back_to", [0, 1, 2, 3, 4, 6])
def test_a_run_killed_after_live_changes_ends_with_the_same_weights(changed: Run, back_to: int):
    """`back_to` is the checkpoint it resumes from; later commands are applied again."""
    step = list(checkpoint.list_checkpoints(changed.path))[back_to]
    killed = copy_killed_at(changed, step)
    again = resume_run(killed)
    assert_same_run(changed, again)
    assert [e["id"] for e in events(again, "live change")] == [
        e["id"] for e in events(changed, "live change")
    ], "a change is one event, however often it is done again"


def test_a_run_killed_twice_still_reapplies_its_live_changes(changed: Run):
    killed = copy_killed_at(changed, ROLLOUT)
    killed.supersede_after(1)  # as an attempt leaves it that did not get as far as any change
    assert_same_run(changed, resume_run(killed))


ALARMED = SETTINGS | {
    "env.kwargs": {"length": 4, "end": "truncated"},
    "facts.deterministic": "yes",  # it is not tried out: the alarm counts steps
    "checkpoint.every": "4 rollouts",
    "eval.every": "off",
}
BEFORE_THE_KILL: Plan = {
    1: [("set", {"algo.lr": 1e-3})],
    3: [("evaluate", {}), ("set", {"algo.clip": 0.1})],
    5: [("set", {"algo.epochs": 3}), ("checkpoint", {}), ("set", {"algo.lr": "2e-3 -> 0"})],
    6: [("set", {"algo.gamma": 0.9})],
}


@pytest.mark.parametrize("rollouts", [4.5, 5.5, 6.5])
def test_kill_9_after_live_changes_and_resume_equals_the_uninterrupted_run(
    rollouts: float, runs_dir: Path
):
    target = "py:tests.scripted:Alarm"
    whole = train_with_commands(
        target, ALARMED, {k: v for k, v in BEFORE_THE_KILL.items() if k < rollouts}
    )
    child = os.fork()
    if child == 0:
        Alarm.number, scored = signal.SIGKILL, 4 * 4
        Alarm.after = int(rollouts * ROLLOUT) + scored
        train_with_commands(target, ALARMED, BEFORE_THE_KILL)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    killed, _ = store.resolve("@last", runs_dir)
    assert killed.status == "lost"
    assert_same_run(whole, resume_run(killed), same_files=False)
    ids = [event["id"] for event in killed.events() if "id" in event]
    assert len(ids) == len(set(ids)), "no command was applied twice"


def test_resume_set_overrides_older_live_changes_of_that_key_only(changed: Run):
    step = list(checkpoint.list_checkpoints(changed.path))[2]
    again = resume_run(copy_killed_at(changed, step), {"algo.lr": 5e-4})
    record = {int(r["clock/rollouts"]): r for r in rows(again) if "policy/loss" in r}
    assert {record[i]["hyper/lr"] for i in record if i > 2} == {5e-4}
    assert record[4]["hyper/value_clip"] == 0.2
    (dropped,) = events(again, "live changes dropped")
    assert dropped["keys"] == ["algo.lr"]
    assert "algo.lr" not in again.info["live"]
    assert events(again, "resumed")[0]["bit_exact"] is False
    assert {e["rollouts"] for e in events(again, "resumed")[0]["live_changes_ahead"]} == {
        2,
        3,
        4,
        5,
    }
    resume_run(again, {"stop.rollouts": 99, "stop.env_steps": 11 * ROLLOUT})
    assert again.info["clocks"]["env_steps"] == 11 * ROLLOUT, "a budget overrules every budget"


def test_a_live_budget_that_is_used_up_is_refused_and_training_continues():
    run = train_with_commands(
        "CartPole-v1", SETTINGS, {3: [("set", {"stop.env_steps": 2 * ROLLOUT})]}
    )
    (refused,) = events(run, "command refused")
    assert f"the run has used {3 * ROLLOUT:,}" in refused["why"]
    assert run.info["clocks"]["env_steps"] == 8 * ROLLOUT
    assert same_arrays(
        checkpoint_arrays(run), checkpoint_arrays(train_small("CartPole-v1", SETTINGS))
    )


def test_a_budget_may_be_reduced_live_to_a_value_that_is_not_reached_yet():
    run = train_with_commands(
        "CartPole-v1", SETTINGS, {3: [("set", {"stop.env_steps": 5 * ROLLOUT})]}
    )
    assert run.info["clocks"]["rollouts"] == 5
    assert (run.info["status"], run.info["reason_kind"]) == ("finished", "budget")
    assert run.config().stop.env_steps == 8 * ROLLOUT, "what is stored stays"


def test_config_show_and_compare_include_live_changes():
    run = train_with_commands("CartPole-v1", SETTINGS, {3: [("set", {"algo.gamma": 0.9})]})
    shown = api.config_show(run.id)
    assert shown.values["algo.gamma"] == 0.9
    assert shown.config["algo"]["gamma"] == 0.9
    assert shown.provenance["algo.gamma"] == f"live change at {3 * ROLLOUT:,} env steps"
    plain = train_small("CartPole-v1", SETTINGS)
    before = run.config().algo.gamma
    (differs,) = [d for d in api.config_diff(plain.id, run.id) if d.key == "algo.gamma"]
    assert (differs.a, differs.b) == (before, 0.9)
    compared = {entry.key: entry.values for entry in api.compare([plain.id, run.id]).config}
    assert compared["algo.gamma"] == [before, 0.9]


def test_pausing_and_saving_change_no_metric():
    plain = train_small("CartPole-v1", SETTINGS)

    def unpause_later() -> None:
        run = wait_for(lambda: newest_paused(plain))
        began = time.monotonic()
        inbox.send(run, "checkpoint")
        inbox.send(run, "set", assignments={"algo.lr": "3e-3 -> 0"})  # changes nothing
        while time.monotonic() < began + PAUSE:
            time.sleep(0.01)
        inbox.send(run, "unpause")

    helper = threading.Thread(target=unpause_later)
    helper.start()
    run = train_with_commands(
        "CartPole-v1", SETTINGS, {2: [("pause", {})], 4: [("checkpoint", {})]}
    )
    helper.join()
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(plain))
    assert same_arrays(checkpoint_arrays(run, "learner"), checkpoint_arrays(plain, "learner"))
    assert [exact_metrics(r) for r in rows(run)] == [exact_metrics(r) for r in rows(plain)]
    assert [e["kind"] for e in run.events()][:4] == [
        "paused",
        "checkpoint asked",
        "live change",
        "unpaused",
    ]
    paused, saved = events(run, "paused")[0], events(run, "checkpoint asked")[-1]
    went_by, counted = (saved[name] - paused[name] for name in ("time", "seconds"))
    assert counted < went_by - PAUSE / 2, "a pause counts nowhere"
    times = [
        v
        for r in rows(run)
        for k, v in r.items()
        if k.startswith("time/") and not k.endswith("_share")
    ]
    assert sum(times) == pytest.approx(rows(run)[-1]["clock/seconds"], rel=0.2)


PAUSE = 1.0


def newest_paused(other: Run) -> Run | None:
    found = [Run(p.parent) for p in other.path.parent.glob("*/run.json") if p.parent != other.path]
    return next((run for run in found if run.info["status"] == "paused"), None)


def test_a_stop_command_ends_the_run_at_a_rollout_boundary_with_a_checkpoint_and_it_can_be_resumed():
    whole = train_small("CartPole-v1", SETTINGS)
    run = train_with_commands(
        "CartPole-v1", SETTINGS, {4: [("stop", {}), ("set", {"algo.lr": 1.0})]}
    )
    info = run.info
    assert (info["status"], info["reason"]) == ("stopped", "stopped by command")
    assert info["clocks"]["rollouts"] == 4
    assert checkpoint.latest(run.path).step == 4 * ROLLOUT
    (refused,) = events(run, "command refused")
    assert refused["command"] == "set"
    assert not list(run.inbox.glob("*.json"))
    resume_run(run)
    assert run.info["status"] == "finished"
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(whole))


def test_commands_for_an_earlier_attempt_are_refused_except_set():
    run = train_with_commands("CartPole-v1", SETTINGS, {2: [("stop", {})]})
    for kind in ("pause", "stop", "set"):
        inbox.write_command(run.inbox, kind, assignments={"algo.lr": 1e-4} if kind == "set" else {})
    resume_run(run)
    assert run.info["status"] == "finished"
    assert [e["command"] for e in events(run, "command refused")] == ["pause", "stop"]
    assert [e["rollouts"] for e in events(run, "live change")] == [2]
    assert rows(run)[-1].get("hyper/lr", 1e-4) == 1e-4


def test_a_command_whose_event_is_recorded_is_not_applied_again():
    run = train_with_commands(
        "CartPole-v1", SETTINGS, {2: [("set", {"algo.lr": 1e-4})], 3: [("stop", {})]}
    )
    (event,) = events(run, "live change")
    sent = inbox.write_command(run.inbox, "set", assignments={"algo.lr": 1.0})
    left = run.inbox / f"{sent.id}.json"
    left.write_text(left.read_text().replace(sent.id, event["id"]))
    left.rename(run.inbox / f"{event['id']}.json")  # as a crash before the unlink leaves it
    resume_run(run)
    assert len(events(run, "live change")) == 1
    assert not list(run.inbox.iterdir())
    assert {r["hyper/lr"] for r in rows(run) if r["clock/rollouts"] > 2 and "hyper/lr" in r} == {
        1e-4
    }


BAD = {
    "not-json": b"{",
    "a-list": b"[]",
    "kind": b'{"version": 1, "kind": "explode", "id": "kind", "by": "x", "assignments": {}}',
    "version": b'{"version": 9, "kind": "stop", "id": "version", "by": "x", "assignments": {}}',
    "nan": b'{"version": 1, "kind": "set", "id": "nan", "by": "x", "assignments": {"algo.lr": NaN}}',
    "long": b" " * 70_000,
    "id": b'{"version": 1, "kind": "stop", "id": "other", "by": "x", "assignments": {}}',
    "binary": b"\xff\xfe\x00",
}
REFUSED: list[dict[str, Any]] = [
    {"algo.lrr": 1.0},
    {"algo.lr": "much"},
    {"algo.lr": -1.0},
    {"env.n_envs": 3},
    {"algo.batch_size": 100_000},
    {"algo.lr": {"$float": "inf"}},
    {"normalize.clip": 5.0},
]


def test_invalid_files_and_impossible_changes_are_reported_and_training_continues():
    run = train_with_commands("CartPole-v1", SETTINGS, {2: [("stop", {})]})
    for name, content in BAD.items():
        (run.inbox / f"{name}.json").write_bytes(content)
    (run.inbox / "folder.json").mkdir()
    for assignments in REFUSED:
        inbox.write_command(run.inbox, "set", assignments=assignments)
    resume_run(run)
    assert run.info["status"] == "finished"
    refused = events(run, "command refused")
    assert {e["file"].removesuffix(".json") for e in refused if "file" in e} == {*BAD, "folder"}
    assert [[*e["assignments"]] for e in refused if "id" in e] == [[*each] for each in REFUSED]
    assert all(e["why"] for e in refused)
    assert not events(run, "live change")
    assert "command refused" in (run.path / "log.txt").read_text()
    assert [p.name for p in run.inbox.iterdir()] == ["refused"]
    assert same_arrays(
        checkpoint_arrays(run), checkpoint_arrays(train_small("CartPole-v1", SETTINGS))
    )


def test_live_values_that_conflict_with_resume_set_are_refused_before_training():
    plan: Plan = {2: [("set", {"algo.batch_size": ROLLOUT})], 3: [("stop", {})]}
    run = train_with_commands("CartPole-v1", SETTINGS, plan)
    with pytest.raises((ConfigError, ValueError)):
        resume_run(run, {"algo.n_steps": 8})
    assert run.status == "stopped"
