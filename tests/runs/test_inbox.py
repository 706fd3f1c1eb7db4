"""Commands to a run as files: ordered, complete, and only accepted while a process trains the run."""

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


def test_commands_are_read_in_the_order_of_sending_until_they_are_deleted(tmp_path: Path):
    sent = [
        inbox.write_command(tmp_path, kind) for kind in ("pause", "checkpoint", "unpause", "stop")
    ]
    assert inbox.read_commands(tmp_path) == inbox.read_commands(tmp_path) == sent
    inbox.delete_command(tmp_path, sent[0].id)
    inbox.delete_command(tmp_path, sent[0].id)
    assert inbox.read_commands(tmp_path) == sent[1:]
    assert inbox.read_commands(tmp_path / "nowhere") == []


def test_concurrent_senders_lose_no_command_and_no_partial_file_is_read(tmp_path: Path):
    def send() -> None:
        for _ in range(20):
            inbox.write_command(tmp_path, "set", assignments={"algo.lr": "1e-4 -> 0"})

    senders = [threading.Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    read: list[object] = []
    while any(sender.is_alive() for sender in senders):
        read += inbox.read_commands(tmp_path)
    assert all(isinstance(found, Command) for found in read)
    assert len(inbox.read_commands(tmp_path)) == 80
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("status", ["finished", "stopped", "failed", "running"])
def test_a_command_to_a_run_that_no_process_trains_is_rejected(
    make_run: Callable[..., Run], status: str
):
    run = make_run(status=status)
    run.update(reason="because", pid=2**22 + 1)  # `running`, by a process that does not exist
    expected = "lost" if status == "running" else status
    with pytest.raises(RunError, match=rf"is {expected} \(because\)"):
        inbox.send(run, "pause")
    assert not list(run.inbox.iterdir())


def test_a_command_is_withdrawn_if_the_run_ends_first(make_run: Callable[..., Run]):
    run = make_run(status="running", created=2e9)
    command = inbox.send(run, "checkpoint")
    assert inbox.wait_for_answer(run, command, 0.1) is None, "the run has not read it"
    run.update(status="finished")
    assert inbox.wait_for_answer(run, command, 5.0) == {"kind": "ended", "why": "it is finished"}
    assert inbox.read_commands(run.inbox) == []


def change(rollouts: int, **values: float) -> dict:
    changes = [{"key": key, "from": 0, "to": value} for key, value in values.items()]
    return {"kind": events.CHANGED, "rollouts": rollouts, "changes": changes}


def test_a_rollback_discards_later_events_but_not_live_changes():
    marker = {"kind": events.SUPERSEDED, "rollouts": 2}
    other = {"kind": "update rolled back", "rollouts": 3}
    asked = {"kind": events.EVALUATED, "rollouts": 4}
    assert events.valid_events([change(1, a=1), other, change(3, a=2), asked, marker]) == [
        change(1, a=1),
        change(3, a=2),
        asked,
    ]


def test_a_dropped_key_is_removed_from_later_live_changes_but_not_from_earlier_ones():
    dropped = {"kind": events.DROPPED, "rollouts": 2, "keys": ["a"]}
    recorded = [change(1, a=1), change(2, a=2), change(3, a=3, b=3), dropped, change(5, a=5)]
    assert events.valid_events(recorded) == [
        change(1, a=1),
        change(3, b=3),
        dropped,
        change(5, a=5),
    ]
