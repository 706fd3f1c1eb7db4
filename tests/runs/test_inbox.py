"""Commands as files: in order, whole, and only to a run that somebody trains."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gymnast.errors import RunError
from gymnast.runs import events, inbox
from gymnast.runs.inbox import Command
from gymnast.runs.run import Run


def test_commands_are_taken_in_the_order_of_sending_until_they_are_forgotten(tmp_path: Path):
    sent = [inbox.put(tmp_path, kind) for kind in ("pause", "checkpoint", "unpause", "stop")]
    assert inbox.take(tmp_path) == inbox.take(tmp_path) == sent
    inbox.forget(tmp_path, sent[0].id)
    inbox.forget(tmp_path, sent[0].id)
    assert inbox.take(tmp_path) == sent[1:]
    assert inbox.take(tmp_path / "nowhere") == []


def test_many_senders_at_once_lose_nothing_and_nothing_half_written_is_seen(tmp_path: Path):
    def send() -> None:
        for _ in range(20):
            inbox.put(tmp_path, "set", assignments={"algo.lr": "1e-4 -> 0"})

    senders = [threading.Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    seen: list[object] = []
    while any(sender.is_alive() for sender in senders):
        seen += inbox.take(tmp_path)
    assert all(isinstance(found, Command) for found in seen)
    assert len(inbox.take(tmp_path)) == 80
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("status", ["finished", "stopped", "failed", "running"])
def test_a_run_that_nobody_trains_is_told_nothing(make_run: Callable[..., Run], status: str):
    run = make_run(status=status)
    run.update(reason="because", pid=2**22 + 1)  # `running`, by a process that is no more
    said = "lost" if status == "running" else status
    with pytest.raises(RunError, match=rf"is {said} \(because\)"):
        inbox.send(run, "pause")
    assert not list(run.inbox.iterdir())


def test_a_command_to_a_run_that_ends_first_is_taken_back(make_run: Callable[..., Run]):
    run = make_run(status="running", created=2e9)
    command = inbox.send(run, "checkpoint")
    assert inbox.answer(run, command, 0.1) is None, "it has not been looked at"
    run.update(status="finished")
    assert inbox.answer(run, command, 5.0) == {"kind": "ended", "why": "it is finished"}
    assert inbox.take(run.inbox) == []


def change(rollouts: int, **values: float) -> dict:
    changes = [{"key": key, "from": 0, "to": value} for key, value in values.items()]
    return {"kind": events.CHANGED, "rollouts": rollouts, "changes": changes}


def test_going_back_voids_later_events_but_not_live_changes():
    marker = {"kind": events.SUPERSEDED, "rollouts": 2}
    other = {"kind": "update rolled back", "rollouts": 3}
    asked = {"kind": events.EVALUATED, "rollouts": 4}
    assert events.valid([change(1, a=1), other, change(3, a=2), asked, marker]) == [
        change(1, a=1),
        change(3, a=2),
        asked,
    ]


def test_a_dropped_key_is_gone_from_changes_still_to_come_and_its_past_stays():
    dropped = {"kind": events.DROPPED, "rollouts": 2, "keys": ["a"]}
    recorded = [change(1, a=1), change(2, a=2), change(3, a=3, b=3), dropped, change(5, a=5)]
    assert events.valid(recorded) == [change(1, a=1), change(3, b=3), dropped, change(5, a=5)]
