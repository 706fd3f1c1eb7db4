"""The directory of a run: creation, concurrent updates, one writer, derived status, events."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gymnast.errors import GymnastError, RunError
from gymnast.runs import layout, lock, run
from gymnast.runs.run import Run
from tests.waiting import PATIENCE, wait_for

Maker = Callable[..., Run]
Fork = Callable[[Callable[[], Any]], int]


def test_a_new_run_records_identity_machine_and_versions(make_run: Maker):
    made = make_run(name="try-1", parent="abc", tags=["a"], threshold=475.0, seed=0)
    info = made.info
    assert made.id == made.path.name == info["id"]
    assert len(made.id) == 8
    assert made.id[0].isalpha()
    assert made.id == made.id.lower()
    assert (info["version"], info["seed"], info["parent"]) == (2, 0, "abc")
    assert (info["env"], info["algo"], info["threshold"]) == ("CartPole-v1", "ppo", 475.0)
    assert info["pid"] == os.getpid()
    assert set(info["versions"]) == {"python", "torch", "gymnasium", "numpy"}
    assert info["cpu"]["cores"] >= 1
    assert layout.CONFIG.path(made.path).read_text() == "seed: 0\n"
    for folder in (made.checkpoints, made.traces, made.inbox):
        assert folder.is_dir()


def _create(directory: str, barrier: Any, ids: Any) -> None:
    barrier.wait()
    made = Run.create(Path(directory), config_text="", preset="A:ppo", seed=0, provenance={})
    ids.put(made.id)


def test_fifty_concurrent_starts_get_fifty_ids(runs_dir: Path):
    context = multiprocessing.get_context("fork")
    barrier, ids = context.Barrier(50), context.Queue()
    children = [
        context.Process(target=_create, args=(str(runs_dir), barrier, ids)) for _ in range(50)
    ]
    for child in children:
        child.start()
    found = [ids.get(timeout=PATIENCE) for _ in children]
    for child in children:
        child.join()
    assert len(set(found)) == 50
    assert {p.name for p in runs_dir.iterdir()} == set(found)
    assert all(Run(runs_dir / name).info["id"] == name for name in found)


def test_an_existing_id_is_not_used_again(
    runs_dir: Path, make_run: Maker, monkeypatch: pytest.MonkeyPatch
):
    draws = iter("aaaaaaaa" * 5 + "bbbbbbbb" * 5)
    monkeypatch.setattr(run.secrets, "choice", lambda _: next(draws))
    assert [make_run().id, make_run().id] == ["aaaaaaaa", "bbbbbbbb"]
    assert len(list(runs_dir.iterdir())) == 2


def test_concurrent_updates_of_run_json_are_all_kept(make_run: Maker):
    made = make_run()
    context = multiprocessing.get_context("fork")

    def change(number: int) -> None:
        for i in range(5):
            made.update(**{f"field_{number}_{i}": i})

    children = [context.Process(target=change, args=(n,)) for n in range(8)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert len([key for key in made.info if key.startswith("field_")]) == 40
    assert not [p for p in made.path.iterdir() if p.name.startswith(".run.json")]


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_run_json_and_events_unchanged_and_raises(
    make_run: Maker, monkeypatch: pytest.MonkeyPatch
):
    made = make_run(note="before")
    made.record_event("first", {"rollouts": 1})
    monkeypatch.setattr(os, "fsync", full)
    for change in (
        lambda: made.update(note="after"),
        lambda: made.record_event("x", {"rollouts": 2}),
    ):
        with pytest.raises(GymnastError, match="No space left"):
            change()
    assert made.info["note"] == "before"
    assert made.events()[0]["kind"] == "first"
    assert not list(made.path.glob(".run.json*"))


def test_a_run_that_cannot_be_created_leaves_no_directory(
    runs_dir: Path, make_run: Maker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(GymnastError, match="No space left"):
        make_run()
    assert list(runs_dir.iterdir()) == []
    with pytest.raises(GymnastError, match="Not a directory"):
        Run.create(Path("/dev/null/x"), config_text="", preset="A", seed=0, provenance={})


def test_an_unknown_status_is_rejected(make_run: Maker):
    with pytest.raises(ValueError, match="lost"):
        make_run().update(status="lost")  # derived by readers, never written


def test_a_second_writer_is_rejected_with_the_pid_of_the_first(make_run: Maker, fork: Fork):
    made = make_run(status="running")

    def hold() -> None:
        with made.writer():
            time.sleep(60)

    pid = fork(hold)
    wait_for(lambda: lock.has_writer(made.path))
    wait_for(lambda: made.status == "running")  # its first heartbeat comes after the lock
    with pytest.raises(RunError, match=f"process {pid} on ") as refused, made.writer():
        pass
    assert "only one process may write a run" in str(refused.value)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert made.status == "lost"
    with made.writer():  # the lock was released with its process
        assert made.status == "running"
        assert made.info["pid"] == os.getpid()


def test_a_child_of_a_killed_writer_does_not_keep_the_lock(make_run: Maker, fork: Fork):
    made = make_run(status="running")
    born = made.path / "child"

    def hold() -> None:
        with made.writer():
            if (pid := os.fork()) == 0:  # an evaluation process, say
                time.sleep(30)
                os._exit(0)
            born.write_text(str(pid))
            time.sleep(60)

    pid = fork(hold)
    wait_for(lambda: born.exists() and born.read_text() != "")
    time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    try:
        assert made.status == "lost"
        with made.writer():
            pass
    finally:
        os.kill(int(born.read_text()), signal.SIGKILL)


def test_readers_that_poll_constantly_do_not_block_a_writer(make_run: Maker):
    made = make_run(status="running")
    (made.path / "lock").touch()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            lock.has_writer(made.path)

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(5):
            with made.writer():
                assert made.status == "running"
    finally:
        stop.set()
        for reader in readers:
            reader.join()


def test_on_another_machine_the_heartbeat_determines_the_status(make_run: Maker):
    made = make_run(status="paused")
    made.update(host="another-machine")
    beat = made.path / "heartbeat"
    beat.touch()
    assert made.status == "paused"
    old = time.time() - lock.HEARTBEAT_TIMEOUT - 1
    os.utime(beat, (old, old))
    assert made.status == "lost"


def test_a_writer_updates_its_heartbeat(make_run: Maker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lock, "HEARTBEAT_INTERVAL", 0.02)
    made = make_run(status="running")
    before = set(threading.enumerate())
    with made.writer():
        os.utime(made.path / "heartbeat", (0, 0))
        wait_for(lambda: (lock.heartbeat_age(made.path) or 0) < 10)
    assert set(threading.enumerate()) <= before


def test_a_new_run_without_a_heartbeat_is_running_at_first_and_then_lost(make_run: Maker):
    assert make_run(status="running", created=time.time()).status == "running"
    assert make_run(status="running", created=time.time() - 100).status == "lost"


@pytest.mark.parametrize("status", ["finished", "stopped", "failed"])
def test_the_status_of_an_ended_run_does_not_change(make_run: Maker, status: str):
    assert make_run(status=status).status == status


def test_events_are_in_order_and_without_superseded_ones(make_run: Maker):
    made = make_run()
    for rollout in (1, 5, 9):
        made.record_event("set", {"rollouts": rollout, "env_steps": rollout * 100}, key="algo.lr")
    made.supersede_after(5)
    made.record_event("resumed", {"rollouts": 5, "env_steps": 500})
    assert [(e["kind"], e["rollouts"]) for e in made.events()] == [
        ("set", 1),
        ("set", 5),
        ("resumed", 5),
    ]
    assert made.events()[0]["key"] == "algo.lr"
    assert len((made.path / "events.jsonl").read_text().splitlines()) == 5  # append-only


def test_an_event_cut_short_by_a_crash_does_not_affect_other_events(make_run: Maker):
    made = make_run()
    made.record_event("first", {"rollouts": 1})
    with (made.path / "events.jsonl").open("a") as file:
        file.write('{"time": 1, "kind": "to')
    made.record_event("second", {"rollouts": 2})
    assert [e["kind"] for e in made.events()] == ["first", "second"]


def test_an_unknown_run_format_is_rejected(make_run: Maker):
    made = make_run()
    (made.path / "run.json").write_text(json.dumps(made.info | {"version": 99}))
    with pytest.raises(RunError, match="run format 99 is not known"):
        _ = made.info
    with pytest.raises(RunError, match="99"):
        made.update(note="x")


def test_a_run_of_an_older_format_is_rejected_with_the_reason(make_run: Maker):
    made = make_run()
    (made.path / "run.json").write_text(json.dumps(made.info | {"version": 1}))
    with pytest.raises(RunError, match=r"run format 1 is no longer read .* were renamed since"):
        _ = made.info


@pytest.mark.parametrize("name", ["@last", "a:b", "a/b", " a", "-x", "a=b", "a\nb"])
def test_names_that_are_ambiguous_as_references_are_rejected(
    make_run: Maker, runs_dir: Path, name: str
):
    with pytest.raises(RunError, match="cannot name a run"):
        make_run(name=name)
    assert not runs_dir.exists()


def test_rows_are_a_data_frame_which_is_empty_before_the_first_rollout(make_run: Maker):
    from gymnast.metrics.store import MetricStore

    made = make_run()
    assert len(made.rows()) == 0
    with MetricStore(made.path / "metrics.db", "w") as store:
        for i in range(3):
            store.append({"clock/rollouts": i, "policy/entropy": 0.1 * i})
    assert made.rows(["policy/entropy"])["policy/entropy"].tolist() == [0.0, 0.1, 0.2]


def test_a_live_writer_without_a_heartbeat_is_stalled(make_run):
    run: Run = make_run(status="running")
    with run.writer():
        assert run.status == "running"
        long_ago = time.time() - lock.HEARTBEAT_TIMEOUT - 1
        os.utime(run.path / "heartbeat", (long_ago, long_ago))
        assert run.status == "stalled"
    assert run.status == "lost"


def test_a_process_that_is_forked_from_the_writer_cannot_write_the_run(make_run: Maker, fork: Fork):
    made = make_run()
    writes = (lambda: made.update(note="forked"), lambda: made.record_event("forked", {}))

    def refused() -> None:
        for write in writes:
            with pytest.raises(RunError, match="was forked from the writer"):
                write()

    with made.writer():
        assert os.waitpid(fork(refused), 0)[1] == 0
        made.update(note="written")
    assert made.info["note"] == "written"
    assert os.waitpid(fork(writes[0]), 0)[1] == 0  # nobody writes the run any more


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_run_that_cannot_be_written_is_an_error_with_its_path(
    make_run: Maker, monkeypatch: pytest.MonkeyPatch, number: int
):
    made = make_run()

    def refuse(path: Path, *_: object) -> int:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(lock.os, "open", refuse)
    with pytest.raises(GymnastError, match="not written") as refused:
        made.tag(["paper"])
    assert str(made.path) in str(refused.value)
    with pytest.raises(GymnastError, match="not written"), made.writer():
        pass
