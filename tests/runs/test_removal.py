"""`gymnast runs rm`, `prune`, `tag` and `note`: what is deleted, what is kept, and crash safety."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gymnast.errors import GymnastError, RunError, UsageError
from gymnast.runs import removal, store
from gymnast.runs.run import Run
from gymnast.text import formatting
from tests.cli_output import cli_output
from tests.waiting import wait_for

Maker = Callable[..., Run]
Ask = Callable[..., str]
DAY = 86400.0


def ids(runs_dir: Path) -> set[str]:
    return {run.id for run in store.list_runs(runs_dir)}


def score(low: float) -> dict[str, float]:
    return {"mean": low + 1, "low": low, "high": low + 2, "episodes": 100}


@pytest.fixture
def ask(runs_dir: Path) -> Ask:
    def call(*words: str, answer: str | None = None) -> str:
        return cli_output("runs", *words, "--runs", str(runs_dir), answer=answer)

    return call


@pytest.fixture
def pruned(ask: Ask, runs_dir: Path) -> Callable[..., tuple[set[str], dict[str, str]]]:
    """Returns what a prune deletes (the same as a dry run lists), and id -> reason for what it keeps."""

    def call(*words: str) -> tuple[set[str], dict[str, str]]:
        before = ids(runs_dir)
        said = json.loads(ask("prune", *words, "--dry-run", "--json"))
        assert ids(runs_dir) == before
        ask("prune", *words, "--yes")
        gone = before - ids(runs_dir)
        assert gone == {run["id"] for run in said["runs"]}
        return gone, said["kept"]

    return call


def test_rm_shows_runs_and_sizes_and_asks_for_confirmation(
    ask: Ask, make_run: Maker, runs_dir: Path
):
    run, other = make_run(name="try-1"), make_run()
    (run.path / "log.txt").write_text("x" * 5000)
    size = sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())
    assert removal.run_size(run.path) == size
    refused = ask("rm", "try-1", answer="n\n")
    assert "try-1" in refused
    assert formatting.size(size) in refused
    assert "nothing deleted" in refused
    assert ids(runs_dir) == {run.id, other.id}
    assert "deleted 1 run" in ask("rm", "try-1", answer="y\n")
    assert ids(runs_dir) == {other.id}
    assert {path.name for path in runs_dir.iterdir()} == {other.id, "index.db"}


def test_without_a_terminal_to_confirm_nothing_is_deleted(
    ask: Ask, make_run: Maker, runs_dir: Path
):
    run = make_run()
    with pytest.raises(UsageError, match="confirmation needs a terminal"):
        ask("rm", run.id, answer="")
    assert ids(runs_dir) == {run.id}


def test_deleted_runs_are_removed_from_the_index(ask: Ask, make_run: Maker, runs_dir: Path):
    runs = [make_run() for _ in range(3)]
    store.list_runs(runs_dir)
    ask("rm", runs[0].id, runs[1].id, "--yes")
    store.list_runs(runs_dir)
    with closing(sqlite3.connect(runs_dir / "index.db")) as db:
        assert db.execute("SELECT name FROM runs").fetchall() == [(runs[2].id,)]


def test_a_run_that_is_being_written_is_not_deleted(
    ask: Ask, make_run: Maker, fork: Callable[..., int], runs_dir: Path
):
    run, other = make_run(status="running"), make_run()

    def write() -> None:
        with run.writer():
            time.sleep(60)

    pid = fork(write)
    wait_for(lambda: run.status == "running")
    with pytest.raises(RunError, match=f"{run.id} is running"):
        ask("rm", other.id, run.id, "--yes")
    assert ids(runs_dir) == {run.id, other.id}  # all of the named runs, or none
    assert json.loads(ask("prune", "CartPole", "--dry-run", "--json"))["kept"] == {
        run.id: "running"
    }
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert run.status == "lost"
    ask("rm", run.id, "--yes")
    assert ids(runs_dir) == {other.id}


def test_a_run_with_a_writer_is_not_deleted_whatever_its_status(make_run: Maker):
    run = make_run(status="finished")
    with run.writer(), pytest.raises(RunError, match="is being written"):
        removal.remove(run)
    assert run.info["status"] == "finished"


def test_if_a_removal_is_killed_the_run_is_not_listed_and_the_next_removal_finishes_it(
    ask: Ask,
    make_run: Maker,
    runs_dir: Path,
    in_child: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
):
    run, other = make_run(), make_run()

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setattr(removal, "_delete", die)
        assert in_child(lambda: removal.remove(run)) == -signal.SIGKILL
    (left,) = runs_dir.glob(".trash-*")
    assert (left / "run.json").exists()
    assert ids(runs_dir) == {other.id}
    ask("rm", other.id, "--yes")
    assert not list(runs_dir.glob(".trash-*"))


def test_an_unreadable_run_can_be_deleted(ask: Ask, make_run: Maker, runs_dir: Path):
    run = make_run()
    (run.path / "run.json").write_text("not json")
    ask("rm", run.id, "--yes")
    assert ids(runs_dir) == set()


def test_removal_does_not_disturb_concurrent_readers_and_writers(make_run: Maker, runs_dir: Path):
    to_delete, kept = [make_run() for _ in range(12)], [make_run() for _ in range(4)]

    def work(i: int) -> bool:
        kept[i % 4].update(note=str(i))
        removal.remove(to_delete[i])
        return {run.id for run in kept} <= ids(runs_dir)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(12)))
    assert ids(runs_dir) == {run.id for run in kept}


def test_rm_warns_that_a_run_is_the_parent_of_another(ask: Ask, make_run: Maker):
    parent = make_run()
    child = make_run(parent=parent.id)
    said = ask("rm", parent.id, "--dry-run")
    assert f"{parent.id} is the parent of {child.id}" in said
    assert "is the parent" not in ask("rm", parent.id, child.id, "--dry-run")


def test_prune_deletes_runs_that_match_every_condition(
    make_run: Maker, pruned: Callable[..., tuple[set[str], dict[str, str]]]
):
    now = time.time()
    old_failed = make_run(status="failed", created=now - 40 * DAY)
    make_run(status="failed", created=now - DAY)
    make_run(status="finished", created=now - 50 * DAY)
    lost = make_run(status="running", created=now - 60 * DAY)
    assert pruned("--status", "failed,lost", "--older", "30d")[0] == {old_failed.id, lost.id}
    assert pruned("--older", "40d", "status=stopped")[0] == set()


def test_prune_keep_keeps_the_newest_of_the_matching_runs(
    make_run: Maker, pruned: Callable[..., tuple[set[str], dict[str, str]]]
):
    runs = [make_run(seed=i) for i in range(4)]
    make_run(env="Taxi-v4", preset="Taxi-v4:ppo")
    gone, kept = pruned("env=CartPole-v1", "--keep", "1")
    assert gone == {run.id for run in runs[:3]}
    assert kept == {runs[3].id: "newest"}


def test_prune_keeps_tagged_best_and_parent_runs_unless_included(
    make_run: Maker, pruned: Callable[..., tuple[set[str], dict[str, str]]]
):
    grandparent = make_run()
    parent = make_run(parent=grandparent.id)
    make_run(parent=parent.id, solved=True, score=score(9))
    tagged = make_run(tags=["paper"])
    best_taxi = make_run(env="Taxi-v4", preset="Taxi-v4:ppo", score=score(1))
    plain = make_run(score=score(2))
    gone, kept = pruned("--unsolved")
    assert gone == {plain.id}
    assert kept == {
        tagged.id: "tagged",
        best_taxi.id: "best",
        parent.id: "parent",
        grandparent.id: "parent",
    }
    words = [word for kind in ("tagged", "best", "parent") for word in ("--include", kind)]
    assert pruned("--unsolved", *words) == (set(kept), {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["prune"], "which runs to prune"),
        (["prune", "--older", "soon"], "30d"),
        (["prune", "--status", "running"], "failed"),
        (["rm", "@last:best"], "names a checkpoint"),
        (["tag", "@last", "two words"], "cannot be a tag"),
    ],
)
def test_invalid_arguments_are_rejected_and_nothing_is_deleted(
    ask: Ask, make_run: Maker, runs_dir: Path, words: Sequence[str], said: str
):
    run = make_run()
    with pytest.raises(GymnastError, match=said):
        ask(*words)
    assert ids(runs_dir) == {run.id}


def test_tags_and_notes_are_stored_shown_and_filtered_by(ask: Ask, make_run: Maker):
    run = make_run(tags=["first"])
    ask("tag", run.id, "paper", "first", "paper")
    assert json.loads(ask("tag", run.id, "--json"))["tags"] == ["first", "paper"]
    assert [r["id"] for r in json.loads(ask("tag=paper", "--json"))["runs"]] == [run.id]
    assert "no tags" in ask("tag", run.id, "paper", "first", "--remove")
    ask("note", run.id, "half as fast")
    assert "half as fast" in ask("note", run.id)
    assert "no note" in ask("note", run.id, "")


def test_tags_added_concurrently_are_all_kept(make_run: Maker):
    run = make_run()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: run.tag([f"t{i}"]), range(16)))
    assert set(run.info["tags"]) == {f"t{i}" for i in range(16)}


def test_sizes_are_listed_with_their_total(ask: Ask, make_run: Maker):
    runs = [make_run(), make_run()]
    listed = json.loads(ask("--sizes", "--json"))["runs"]
    assert [r["bytes"] for r in listed] == [removal.run_size(run.path) for run in reversed(runs)]
    total = formatting.size(sum(r["bytes"] for r in listed))
    assert ask("--sizes").splitlines()[-1] == f"{total} in 2 runs"
    assert "size" not in ask().splitlines()[0]


def test_prune_keeps_runs_with_files_of_the_user_and_rm_names_them(
    make_run: Maker, runs_dir: Path, ask: Ask
):
    mine, other = make_run(), make_run()
    for run in (mine, other):
        run.update(status="failed")
    (mine.path / "thoughts.txt").write_text("keep me")
    assert f"kept, foreign: {mine.id}" in ask(
        "prune", "--status", "failed", "--include", "best", "--yes"
    )
    assert ids(runs_dir) == {mine.id}
    shown = ask("rm", mine.id, "--dry-run")
    assert f"{mine.id} has files that gymnast did not write" in shown
    assert "thoughts.txt" in shown
    both = ("--include", "best", "--include", "foreign")
    ask("prune", "--status", "failed", *both, "--yes")
    assert ids(runs_dir) == set()
