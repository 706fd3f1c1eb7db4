"""Copies of runs: whole, consistent, and never outside of their place."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from gymnast.errors import RunError
from gymnast.jobs import record
from gymnast.jobs.remote import transfer
from gymnast.metrics.store import MetricStore
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.small_runs import assert_same_run, train_small


def packed_record(runs_dir: Path, run: Run) -> None:
    request: record.JobRequest = {
        "kind": "train",
        "request": {},
        "target": "X",
        "name": "",
        "group": None,
        "seed": 0,
        "attempts": 0,
    }
    record.write(record.jobs_dir(runs_dir), run.id, request, exit_code=0)


def pack(runs_dir: Path, run: Run, *, small: bool) -> io.BytesIO:
    archive = io.BytesIO()
    transfer.pack_run(runs_dir, run.id, archive, small=small)
    archive.seek(0)
    return archive


def test_a_copied_run_equals_the_original_and_keeps_what_was_added_here(
    runs_dir: Path, tmp_path: Path
):
    settings = {"stop.env_steps": 256, "env.n_envs": 2, "algo.n_steps": 32, "traces.train": "100%"}
    run = train_small("Script", settings)
    packed_record(runs_dir, run)
    here = tmp_path / "here"
    record.jobs_dir(here).mkdir(parents=True)
    transfer.place_run(pack(runs_dir, run, small=True), here, run.id)
    copy = Run(here / run.id)
    assert not checkpoint.list_checkpoints(copy.path)
    copy.update(note="mine", tags=["kept"])
    there = transfer.place_run(pack(runs_dir, run, small=False), here, run.id)
    assert there.get("exit_code") == 0
    assert_same_run(run, copy)
    assert (copy.info["note"], copy.info["tags"]) == ("mine", ["kept"])
    assert copy.inbox.is_dir(), "it can be resumed here"
    assert not list(record.jobs_dir(here).glob(".fetched-*"))


def test_metrics_that_are_being_written_are_copied_as_one_version(runs_dir: Path, tmp_path: Path):
    run = train_small("Script", {"stop.env_steps": 64, "env.n_envs": 2, "algo.n_steps": 32})
    packed_record(runs_dir, run)
    record.jobs_dir(tmp_path / "here").mkdir(parents=True)
    with MetricStore(run.path / "metrics.db", "w") as store:
        store.append({"clock/rollouts": 99.0})
        store.flush()
        assert (run.path / "metrics.db-wal").stat().st_size > 0
        transfer.place_run(pack(runs_dir, run, small=True), tmp_path / "here", run.id)
        with MetricStore(tmp_path / "here" / run.id / "metrics.db") as copied:
            assert [*copied.rows()] == [*store.rows()]
            assert [*copied.rows()][-1]["clock/rollouts"] == 99.0


@pytest.mark.parametrize("name", ["../evil", "x/../../evil"])
def test_a_file_outside_of_the_target_is_refused(tmp_path: Path, name: str):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as packed:
        member = tarfile.TarInfo(name)
        member.size = 4
        packed.addfile(member, io.BytesIO(b"evil"))
    archive.seek(0)
    with pytest.raises(RunError):
        transfer.unpack(archive, tmp_path / "target")
    assert not list(tmp_path.rglob("evil"))


def test_links_and_damaged_archives_are_refused(tmp_path: Path):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as packed:
        member = tarfile.TarInfo("link")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(member)
    archive.seek(0)
    with pytest.raises(RunError, match="neither a file nor a directory"):
        transfer.unpack(archive, tmp_path)
    with pytest.raises(RunError, match="cannot be unpacked"):
        transfer.unpack(io.BytesIO(b"x" * 2000), tmp_path)


def test_a_host_can_only_replace_the_run_of_its_job(runs_dir: Path, tmp_path: Path):
    run = train_small("Script", {"stop.env_steps": 64, "env.n_envs": 2, "algo.n_steps": 32})
    packed_record(runs_dir, run)
    other = tmp_path / "files"
    other.mkdir()
    (other / "run.json").write_text("{}")
    archive, folder = io.BytesIO(), record.jobs_dir(runs_dir)
    transfer.pack(
        {
            "victim": other,
            f"{folder.name}/victim.json": other / "run.json",
            f"{folder.name}/{run.id}.json": record.file(folder, run.id),
        },
        archive,
    )
    archive.seek(0)
    before = sorted(os.listdir(runs_dir)), sorted(os.listdir(folder))
    transfer.place_run(archive, runs_dir, run.id)
    assert (sorted(os.listdir(runs_dir)), sorted(os.listdir(folder))) == before
