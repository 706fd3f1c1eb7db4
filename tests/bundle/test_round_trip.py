"""A bundle says the same as the run that it was made of, whoever opens it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from gymnast import api
from gymnast.bundle.bundle import make_bundle
from gymnast.bundle.record import DEFAULT_MAX_SIZE
from gymnast.runs import checkpoint, layout
from gymnast.runs.details import RunDetails, describe_run
from gymnast.runs.run import Run
from gymnast.runs.unpack import open_bundle
from tests.bundle.conftest import Bundled
from tests.small_runs import copy_killed_at, resume_run

READERS: dict[str, Callable[[str], object]] = {
    "rows": api.rows,
    "rows_csv": api.rows_csv,
    "events": api.events,
    "charts": api.charts,
    "doctor": api.doctor,
    "logs": lambda ref: [line for line in api.logs(ref).lines if "path" not in line],
    "episodes of the best": lambda ref: api.episodes(ref, kind="confirm"),
}


@pytest.fixture(params=["run", "match_run"])
def any_run(request: pytest.FixtureRequest) -> Run:
    return request.getfixturevalue(request.param)


def comparable(details: RunDetails) -> RunDetails:
    """Returns the details without places: the path, the host, and which checkpoints are on disk."""
    checkpoints = type(details.checkpoints)()
    return replace(details, path="", host="", checkpoints=checkpoints, checkpoint=None, bundle=None)


def test_the_details_are_those_of_the_run(any_run: Run, bundled: Bundled):
    before = describe_run(any_run, "best", verify=True)
    file = bundled(any_run)
    shutil.rmtree(any_run.path.parent)  # as on another machine
    after = api.show(f"{file}:best", verify=True)
    assert comparable(after) == comparable(before)
    assert before.checkpoint is not None
    assert after.checkpoint is not None
    assert after.checkpoint.sha256 == before.checkpoint.sha256
    assert after.checkpoints.steps == [before.checkpoint.step]
    assert after.checkpoints.damaged == []
    assert after.path == str(file)
    assert before.bundle is None
    assert after.bundle is not None
    assert (after.bundle.run, after.bundle.status) == (before.id, before.status)


@pytest.mark.parametrize("name", READERS)
def test_what_reads_runs_reads_bundles(any_run: Run, bundled: Bundled, name: str):
    read = READERS[name]
    assert read(str(bundled(any_run))) == read(any_run.id)


def test_ratings_are_those_of_the_checkpoint(match_run: Run, bundled: Bundled):
    file = str(bundled(match_run, "latest"))
    assert api.league(file) == api.league(match_run.id)
    ours, theirs = (replace(api.self_play(ref), durations=[]) for ref in (file, match_run.id))
    assert ours == theirs, "except lengths of matches, of which a bundle has one evaluation"


def test_a_report_is_written_next_to_the_bundle(run: Run, bundled: Bundled):
    file = bundled(run)
    written = api.report(str(file), formats=["md"])
    assert {Path(name).parent for name in written.files} == {file.parent / "bundle-report"}


def test_the_same_run_gives_the_same_bytes(any_run: Run, bundled: Bundled):
    first = bundled(any_run).read_bytes()
    assert bundled(any_run).read_bytes() == first


def test_the_manifest_lists_every_file_with_its_hash(any_run: Run, bundled: Bundled):
    made = make_bundle(any_run, None, DEFAULT_MAX_SIZE).contents
    file = bundled(any_run)
    assert file.stat().st_size == made.size
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        first, *names = archive.namelist()
        assert first == f"{any_run.id}/manifest.json"
        manifest = json.loads(archive.read(first))
        listed = {f"{any_run.id}/{one['name']}": one for one in manifest["files"]}
        assert sorted(names) == sorted(listed)
        for name, one in listed.items():
            content = archive.read(name)
            assert (len(content), sha256(content).hexdigest()) == (one["size"], one["sha256"])
    assert manifest["version"] == layout.BUNDLE.version
    assert {"numpy", "gymnast"} <= set(manifest["machine"]["packages"])
    assert [one.name for one in made.files] == [one["name"] for one in manifest["files"]]


@pytest.mark.parametrize("which", ["best", "latest", "none", None])
def test_the_checkpoint_is_the_chosen_one(run: Run, bundled: Bundled, which: str | None):
    details = describe_run(run)
    best, latest = details.checkpoints.best, details.checkpoints.latest
    assert best is not None
    assert latest is not None
    steps = {"best": [best.step], "latest": [latest.step], "none": [], None: [best.step]}[which]
    shown = api.show(str(bundled(run, which)))
    assert shown.checkpoints.steps == steps
    assert shown.checkpoints.damaged == []
    assert shown.bundle is not None
    assert shown.bundle.checkpoint == (steps[0] if steps else None)
    episodes = [file for file in shown.bundle.files if file.part == "episodes"]
    assert bool(episodes) == bool(steps)


def test_a_run_without_checkpoints_or_metrics_has_a_bundle(run: Run, bundled: Bundled):
    """It failed while it started, for example."""
    for name in ("checkpoints", "traces"):
        shutil.rmtree(run.path / name)
    for name in ("metrics.db", "events.jsonl", "log.txt"):
        (run.path / name).unlink()
    run.update(status="failed", checkpoints={"best": None, "latest": None})
    shown = api.show(str(bundled(run)))
    assert (shown.status, shown.checkpoints.steps, shown.events) == ("failed", [], [])


def test_damaged_files_are_left_out_and_named(run: Run, bundled: Bundled):
    best = checkpoint.locate(run.path, "best")
    weights = best / "policy.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    (run.path / "metrics.db").write_bytes(b"no database" * 100)
    shown = api.show(str(bundled(run, "best")))
    assert shown.bundle is not None
    reasons = {one.name: one.reason for one in shown.bundle.left_out}
    assert "hash differs" in reasons["policy"]
    assert "not a metric store" in reasons["metrics"]
    assert shown.checkpoints.steps == []
    assert shown.bundle.checkpoint is None


def test_an_unpacked_bundle_resumes_bit_exactly(run: Run, bundled: Bundled, tmp_path: Path):
    step = sorted(checkpoint.list_checkpoints(run.path))[1]
    killed = copy_killed_at(run, step)
    with zipfile.ZipFile(bundled(killed, "latest")) as archive:
        archive.extractall(tmp_path / "elsewhere")
    unpacked = Run(tmp_path / "elsewhere" / killed.id)
    resumed = resume_run(unpacked)
    last, other = (checkpoint.latest(one.path) for one in (resumed, run))
    assert (
        last.manifest["files"]["policy.safetensors"]
        == other.manifest["files"]["policy.safetensors"]
    )
    assert layout.foreign_files(unpacked.path) == []


def test_incidents_are_included_newest_first(run: Run, bundled: Bundled):
    source = checkpoint.find(run.path, "latest")
    for step in (3, 1, 2):
        documents = {"incident": {"problem": f"KL {step}"}}
        arrays = {"policy": source.tensors("policy")}
        checkpoint.write(
            run.path / "incidents", step, tensors=arrays, documents=documents, reason="x"
        )
    opened = open_bundle(bundled(run))
    for step in (1, 2, 3):
        stored = checkpoint.read(opened / "incidents" / f"{step:012d}")
        assert stored.document("incident") == {"problem": f"KL {step}"}
    shown = api.show(str(bundled(run)))
    assert shown.bundle is not None
    parts = {f.name.split("/")[1]: f.part for f in shown.bundle.files if "incident" in f.part}
    assert parts[f"{3:012d}"] == "incident"
    assert parts[f"{1:012d}"] == parts[f"{2:012d}"] == "older incidents"


def test_a_database_in_the_middle_of_a_write_is_copied_consistently(run: Run, bundled: Bundled):
    """A writer has rows in the write-ahead log, and an open transaction with another one."""
    database = run.path / "metrics.db"
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    copied = "INSERT INTO rows (attempt, rollouts, schema, data) SELECT attempt, rollouts + 1, schema, data"
    writer.execute(f"{copied} FROM rows ORDER BY id DESC LIMIT 1")
    committed = api.rows(run.id).rows
    writer.execute("BEGIN")
    writer.execute(f"{copied} FROM rows")
    file = bundled(run)
    writer.execute("COMMIT")
    writer.close()
    assert api.rows(str(file)).rows == committed
    assert len(api.rows(run.id).rows) == 2 * len(committed)
