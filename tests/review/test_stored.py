"""Stored reviews: complete or absent, listed newest first, and harmless whoever wrote them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import GymnastError, RunError, UsageError
from gymnast.records import from_json, to_json
from gymnast.review.record import BundlePart, Review
from gymnast.review.stored import find_review, list_reviews, new_id, write_review
from gymnast.runs import durable, layout
from gymnast.runs.episodes import find_episode, list_episodes
from gymnast.runs.run import Run


def made(run: Run, review_id: str = "", answer: str = "good ✓\n") -> Review:
    first = next(list_episodes(run, "eval"))
    return Review(
        id=review_id or new_id(),
        run=run.id,
        created=1.5,
        checkpoint=first.version,
        episode=find_episode(run, "eval", first.version, first.number),
        command="mine",
        seconds=0.25,
        parts=(BundlePart("run", 10), BundlePart("charts", 20, "Cut.")),
        bundle="",
        answer=answer,
    )


def test_a_review_is_read_as_it_was_written(run: Run):
    review = made(run)
    file = write_review(run, review, "the bundle", {"frames/a.png": b"1"})
    assert list_reviews(run) == ([replace(review, bundle=str(file))], [])
    assert file.read_text() == "the bundle"
    assert (file.parent / "frames" / "a.png").read_bytes() == b"1"
    assert from_json(Review, to_json(review)) == review
    assert "arguments" not in (file.parent / "review.json").read_text()


def test_reviews_are_listed_newest_first_and_found_by_the_start_of_their_id(run: Run):
    for review_id in ("20260101-000000-aa", "20260301-000000-bb", "20260201-000000-cc"):
        write_review(run, made(run, review_id), "", {})
    reviews, _ = list_reviews(run)
    assert [review.id[-2:] for review in reviews] == ["bb", "cc", "aa"]
    assert find_review(reviews, "202602").id.endswith("cc")
    with pytest.raises(UsageError, match="several"):
        find_review(reviews, "2026")
    with pytest.raises(UsageError, match="no review 'x'"):
        find_review(reviews, "x")


def test_a_failure_while_writing_leaves_nothing(run: Run, monkeypatch: pytest.MonkeyPatch):
    def full(path: Path, content: bytes) -> None:
        if "review.json" in path.name:
            raise OSError(28, "No space left on device")
        path.write_bytes(content)

    monkeypatch.setattr(durable, "write", full)
    with pytest.raises(GymnastError, match="No space left"):
        write_review(run, made(run, "x"), "bundle", {"frames/a.png": b"1"})
    assert list(layout.REVIEWS.path(run.path).iterdir()) == []


def test_a_run_that_was_deleted_meanwhile_does_not_come_back(run: Run, runs_dir: Path):
    review = made(run)
    assert api.remove([run.id], runs_dir=runs_dir).deleted
    with pytest.raises(RunError, match="deleted in the meantime"):
        write_review(run, review, "", {})
    assert not run.path.exists()


def test_reviews_belong_to_the_run_and_go_with_it(run: Run, runs_dir: Path):
    review = made(run)
    write_review(run, review, "", {})
    assert layout.foreign_files(run.path) == []
    assert api.export(run.id, "csv", runs_dir=runs_dir)
    assert api.remove([run.id], runs_dir=runs_dir).runs[0].foreign_files == ()
    assert not run.path.exists()


def test_reviews_from_elsewhere_are_plain_text_and_broken_ones_are_reported(
    run: Run, runs_dir: Path
):
    folder = write_review(run, made(run, "20260101-a"), "", {}).parent
    (folder / "answer.md").write_bytes(b"\x1b[2Jhidden \xff")
    stored = json.loads((folder / "review.json").read_text())
    (folder / "review.json").write_text(json.dumps(stored | {"id": "other", "run": "other"}))
    for name, content in {
        "b": "{",
        "c": json.dumps(stored | {"version": 99}),
        "d": json.dumps(stored | {"parts": 3}),
        "e": "[]",
    }.items():
        (folder.with_name(name)).mkdir()
        (folder.with_name(name) / "review.json").write_text(content)
        (folder.with_name(name) / "answer.md").touch()
    found = api.reviews(run.id, runs_dir=runs_dir)
    (review,) = found.reviews
    assert (review.id, review.run, review.answer) == ("20260101-a", run.id, "hidden �")
    assert found.problem.count("cannot be read") == 3
    assert "format 99 is not known" in found.problem
