"""The status of a remote job, from what its provider, its record and its run say."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from gymnast.jobs import record
from gymnast.jobs.remote.state import remote_status
from gymnast.jobs.remote.watch import continue_job, parse_states
from gymnast.runs import document, durable, layout
from gymnast.runs.run import Run, create_run_dir


def job(**fields: Any) -> record.JobRecord:
    remote = {"on": "box", "store": "shared", "requeue": False, **fields.pop("remote", {})}
    remote |= {"runs": "runs", "cwd": "", "facts": {}, "max_jobs": 0}
    known = {"id": "x", "version": 1, "attempts": 0, "created": time.time(), "remote": remote}
    known |= {"kind": "train", "request": {}, "target": "X", "name": "", "group": None, "seed": 0}
    return {**known, **fields}  # type: ignore[return-value]


@pytest.fixture
def run(runs_dir: Path) -> Run:
    """Returns a run that another host trains, with a fresh heartbeat."""
    path = create_run_dir(runs_dir)
    run = Run.create(
        runs_dir, config_text="", preset="X", seed=0, provenance={}, reserved_dir=path, host="box"
    )
    run.update(host="box", attempts=1)
    layout.HEARTBEAT.path(path).touch()
    return run


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "queued"),
        ({"state": "waiting"}, "queued"),
        ({"state": "running"}, "starting"),
        ({"state": "gone"}, "lost"),
        ({"state": "gone", "ended": 1.0, "words": "no such env\nfix"}, "failed"),
        ({"state": "gone", "cancelled": True}, "stopped"),
        ({"state": "running", "cancelled": True}, "starting"),
        ({"state": "waiting", "late": "no answer"}, "queued"),
        ({"state": "waiting", "late": "no answer", "created": 0.0}, "lost"),
    ],
)
def test_without_a_run_the_provider_decides(tmp_path: Path, fields: Any, expected: str):
    status, reason = remote_status(tmp_path / "x", job(**fields))
    assert status == expected
    if "late" in fields:
        assert reason == "no answer"
    if expected == "failed":
        assert reason == "no such env"


def test_the_heartbeat_of_a_shared_run_decides_unless_the_provider_knows_better(run: Run):
    assert remote_status(run.path, job(state="running"))[0] == "running"
    os.utime(layout.HEARTBEAT.path(run.path), (0, 0))
    expected = {"running": "stalled", "waiting": "queued", "gone": "lost"}
    for state, status in expected.items():
        assert remote_status(run.path, job(state=state))[0] == status


def test_the_provider_of_a_copied_run_decides_whether_it_lives(run: Run):
    layout.HEARTBEAT.path(run.path).unlink()
    copied = {"store": "copy"}
    assert remote_status(run.path, job(remote=copied, state="running"))[0] == "running"
    assert remote_status(run.path, job(remote=copied, state="gone"))[0] == "lost"


def test_a_preempted_job_waits_while_its_provider_has_it_and_a_stopped_one_does_not(run: Run):
    run.update(status="stopped", reason="interrupted by SIGTERM", reason_kind="interrupted")
    again = {"requeue": True}
    assert remote_status(run.path, job(remote=again, state="waiting"))[0] == "queued"
    status, reason = remote_status(run.path, job(remote=again, state="gone"))
    assert (status, reason) == ("stopped", "preempted: interrupted by SIGTERM")
    for fields in ({"remote": again, "stop_asked": True}, {}):
        assert remote_status(run.path, job(state="waiting", **fields))[0] == "stopped"


def test_a_run_that_is_to_be_resumed_has_not_the_status_of_its_last_attempt(run: Run):
    run.update(status="finished")
    assert remote_status(run.path, {**job(state="waiting"), "attempts": 1})[0] == "queued"
    run.update(status="running", attempts=2)
    assert remote_status(run.path, {**job(state="running"), "attempts": 1})[0] == "running"


def test_a_preempted_job_is_submitted_once_and_given_up_if_it_makes_no_progress(
    run: Run, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = record.jobs_dir(runs_dir)
    folder.mkdir()
    again = {**job(remote={"on": "local", "requeue": True}), "id": run.id}
    durable.replace(record.file(folder, run.id), document.dumps(again).encode())
    run.update(status="stopped", reason_kind="interrupted", clocks={"env_steps": 64})
    submitted = list[str]()

    def submit(_provider: object, _runs_dir: Path, job_id: str) -> None:
        submitted.append(job_id)
        record.update(folder, job_id, state="waiting")

    monkeypatch.setattr("gymnast.jobs.remote.watch.start_there", submit)
    answers = list[bool]()
    for _ in range(6):  # it is preempted six times at the same step
        record.update(folder, run.id, state="gone")
        answers += [continue_job(runs_dir, run.id), continue_job(runs_dir, run.id)]
    assert answers == [True, False] * 3 + [False, False] * 3
    assert submitted == [run.id] * 3
    assert record.read(folder, run.id).get("settled")


@pytest.mark.parametrize(
    ("text", "only", "expected"),
    [
        (
            "7 RUNNING\n8 PENDING\n9 COMPLETING\n",
            "",
            {"7": "running", "8": "waiting", "9": "running"},
        ),
        ("7 COMPLETED\n", "", {"7": "gone"}),
        ("abc queued\n\nabd running", "", {"abc": "waiting", "abd": "running"}),
        ("R\n", "7", {"7": "running"}),
        ("", "7", {}),
        ("8 RUNNING\n", "7", {}),
        ("Welcome!\n7 PD", "7", {"7": "waiting"}),
    ],
)
def test_states_are_read_from_lines(text: str, only: str, expected: dict[str, str]):
    assert parse_states(text, only) == expected
