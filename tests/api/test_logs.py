"""Logs with a cursor: growing files, incomplete lines, invalid UTF-8, jobs that become runs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast import api
from gymnast.errors import UsageError
from gymnast.jobs import record
from gymnast.jobs.follow import LogPage, read_log
from gymnast.runs.run import Run
from tests.api.conftest import job_request


@pytest.fixture
def run(runs_dir: Path) -> Run:
    """A run whose process is alive: this one."""
    return Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={})


def log(run: Run) -> Path:
    return run.path / "log.txt"


def read_all(path: Path, max_bytes: int, after: str = "") -> tuple[list[str], LogPage]:
    lines: list[str] = []
    while True:
        page = read_log(path, after=after, max_bytes=max_bytes)
        lines += page.lines
        after = page.cursor
        if not page.has_more:
            return lines, page


def test_a_log_that_does_not_exist_yet_has_no_lines(run: Run):
    page = api.logs(run.id)
    assert (page.lines, page.has_more, page.ended) == ([], False, False)


def test_a_growing_log_is_read_without_gaps_and_incomplete_lines_wait(run: Run):
    log(run).write_bytes(b"one\ntwo\nthr")
    first = api.logs(run.id)
    assert first.lines == ["one", "two"]
    assert api.logs(run.id, after=first.cursor).lines == []
    with log(run).open("ab") as file:
        file.write("ee\n\nfünf\n".encode()[:-3])  # cut within the ü
    second = api.logs(run.id, after=first.cursor)
    assert second.lines == ["three", ""]
    assert not second.ended
    log(run).write_bytes("one\ntwo\nthree\n\nfünf\nsix".encode())
    run.update(status="finished")
    last = api.logs(run.id, after=second.cursor)
    assert last.lines == ["fünf", "six"], "the last line of a run that has ended is complete"
    assert last.ended
    assert api.logs(run.id, after=last.cursor).lines == []


def test_invalid_utf8_is_replaced_and_does_not_stop_reading(run: Run):
    log(run).write_bytes(b"\xff\xfe bad\n\xe4\xbd\nok\n")
    lines, _ = read_all(run.path, 1 << 20)
    assert lines == ["\ufffd\ufffd bad", "\ufffd", "ok"]
    small, _ = read_all(run.path, 4)
    assert "".join(small) == "".join(lines)


texts = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30))


@given(texts, st.integers(4, 64))
def test_every_line_is_read_whatever_the_size_of_a_page(lines: list[str], max_bytes: int):
    with tempfile.TemporaryDirectory() as folder:
        run = Run.create(Path(folder), config_text="", preset="A:ppo", seed=0, provenance={})
        run.update(status="finished")
        log(run).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
        whole, page = read_all(run.path, 1 << 20)
        assert whole == lines
        assert page.ended
        parts, _ = read_all(run.path, max_bytes)
        assert "".join(parts) == "".join(lines)
        if all(len(line.encode()) < max_bytes for line in lines):
            assert parts == lines
        for last in range(len(lines) + 2):
            assert read_log(run.path, last=last).lines == (lines[-last:] if last else [])


def test_a_page_is_bounded_and_a_long_line_is_divided_between_characters(run: Run):
    log(run).write_text("ü" * 100 + "\nend\n", encoding="utf-8")
    page = read_log(run.path, max_bytes=15)
    assert page.lines == ["ü" * 7]
    assert page.has_more
    lines, _ = read_all(run.path, 15)
    assert "".join(lines) == "ü" * 100 + "end"


def test_a_log_that_became_shorter_is_read_from_its_start(run: Run):
    log(run).write_text("a long first line\n")
    page = api.logs(run.id)
    log(run).write_text("new\n")
    assert api.logs(run.id, after=page.cursor).lines == ["new"]


def test_the_output_of_a_job_continues_with_the_log_of_its_run(runs_dir: Path):
    folder = record.jobs_dir(runs_dir)
    record.write(folder, "job1", job_request("A"))
    record.output_file(folder, "job1").write_text("waiting\n")
    page = api.logs("job1")
    assert page.lines == ["waiting"]
    record.output_file(folder, "job1").write_text("waiting\nstarting\n")
    run = Run.create(
        runs_dir,
        config_text="",
        preset="A:ppo",
        seed=0,
        provenance={},
        reserved_dir=_made(runs_dir / "job1"),
    )
    log(run).write_text("training\n")
    lines, _ = read_all(run.path, 1 << 20, after=page.cursor)
    assert lines == ["starting", "training"]
    assert api.logs("job1").lines == ["training"], "of a run, only its own log is read"


@pytest.mark.parametrize("cursor", ["nonsense", "run:-1", "run:", "disk:3", ":"])
def test_an_invalid_cursor_is_an_error(cursor: str, run: Run):
    with pytest.raises(UsageError, match="is not a cursor"):
        api.logs(run.id, after=cursor)


def _made(path: Path) -> Path:
    path.mkdir()
    return path
