"""The reviews of a run on disk: a folder per review in `reviews/`, which appears complete or not at all."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from gymnast.errors import RunError, UsageError
from gymnast.records import from_json, to_json
from gymnast.review.record import Review
from gymnast.runs import document, durable, files, formats, layout
from gymnast.runs.run import Run
from gymnast.text.plain import plain_text

RECORD, ANSWER, BUNDLE = "review.json", "answer.md", "bundle.md"
"""Files of a review."""
VERSION = layout.REVIEWS.version


def new_id() -> str:
    """Returns an id for a review that starts now; ids sort by time."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def bundle_file(run: Run, review_id: str) -> Path:
    """Returns the file of the bundle of a review."""
    return layout.REVIEWS.path(run.path) / review_id / BUNDLE


def write_bundle(file: Path, text: str, frames: Mapping[str, bytes]) -> None:
    """Writes a bundle to a file, and its frames (relative path -> PNG) next to it. Raises GymnastError if
    that fails."""
    with durable.explain_os_errors(file):
        for name, png in frames.items():
            picture = file.parent / name
            picture.parent.mkdir(parents=True, exist_ok=True)
            picture.write_bytes(png)
        file.parent.mkdir(parents=True, exist_ok=True)
        durable.replace(file, text.encode())


def write_review(run: Run, review: Review, bundle: str, frames: Mapping[str, bytes]) -> Path:
    """Stores a review with the bundle and its frames (relative path -> picture), and returns the file of the
    bundle. Raises RunError if the run was deleted in the meantime."""
    file = bundle_file(run, review.id)
    if not layout.RUN.path(run.path).exists():
        raise RunError("the run was deleted in the meantime", at=str(run.path))
    draft = file.parent.with_name(f".{review.id}")
    try:
        write_bundle(draft / BUNDLE, bundle, frames)
        stored = {"version": VERSION, **_plain(review)}
        durable.replace(draft / ANSWER, review.answer.encode())
        durable.replace(draft / RECORD, document.dumps(stored, indent=1).encode())
        with durable.explain_os_errors(file):
            draft.rename(file.parent)
            durable.sync_directory(file.parent.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return file


def list_reviews(run: Run) -> tuple[list[Review], list[str]]:
    """Returns the reviews of a run, newest first, and messages about unreadable ones."""
    reviews: list[Review] = []
    problems: list[str] = []
    folder = layout.REVIEWS.path(run.path)
    for record in sorted(folder.glob(f"[!.]*/{RECORD}"), reverse=True):
        try:
            reviews.append(_read(run, record.parent))
        except RunError as error:
            problems.append(str(error))
    return reviews, problems


def find_review(reviews: Sequence[Review], review_id: str) -> Review:
    """Returns the review with this id, or the only one whose id starts with it; raises UsageError if there is
    none or several."""
    found = [review for review in reviews if review.id.startswith(review_id)]
    if len(found) == 1:
        return found[0]
    known = [review.id for review in found or reviews]
    problem = f"several reviews start with {review_id!r}" if found else f"no review {review_id!r}"
    fix = f"choose one of {', '.join(known)}" if known else "this run has no reviews"
    raise UsageError(problem, fix=fix)


def _plain(review: Review) -> dict[str, object]:
    """Returns a review as it is stored: the answer has its own file, and the place of the bundle is known."""
    values = to_json(review)
    assert isinstance(values, dict)
    return {key: value for key, value in values.items() if key not in ("answer", "bundle")}


def _read(run: Run, folder: Path) -> Review:
    """Returns the review in a folder; raises RunError if it cannot be read."""
    try:
        stored = document.loads(files.read(folder / RECORD, below=run.path))
        answer = files.read(folder / ANSWER, below=run.path).decode("utf-8", "replace")
        version = stored.pop("version", None)
        if version != VERSION:
            problem, fix = formats.version_error("review", version, VERSION)
            raise RunError(problem, at=str(folder), fix=fix)
        review = from_json(Review, stored | {"answer": "", "bundle": ""})
    except (OSError, ValueError, AttributeError, TypeError, ValidationError) as error:
        raise RunError(f"the review cannot be read: {error}", at=str(folder)) from None
    # Other people may have written into a run that was copied from elsewhere.
    return replace(
        review,
        id=folder.name,
        run=run.id,
        answer=plain_text(answer),
        bundle=str(folder / BUNDLE),
    )
