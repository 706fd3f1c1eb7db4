"""A review as a task: makes the bundle, runs the command, stores the answer."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from gymnast.foreign.run import ForeignRun
from gymnast.progress import ProgressCallback
from gymnast.review.bundle import Bundle, check_budget
from gymnast.review.foreign import find_foreign, foreign_bundle
from gymnast.review.prepare import ReviewRequest, Subject, bundle_of, find_subject
from gymnast.review.record import Review
from gymnast.review.stored import BUNDLE, bundle_file, new_id, write_bundle, write_review
from gymnast.runs.episodes import Kind
from gymnast.settings import ReviewCommand, load_settings
from gymnast.user_command import Answer, run_command


def review(
    ref: str,
    *,
    kind: Kind,
    version: int | None,
    number: int | None,
    command: str | None,
    budget: int,
    out: str | None,
    runs_dir: str,
    progress: ProgressCallback,
) -> Review:
    """Reviews a run or an episode, see `api.review`. `command`: the name of a command, or None to only write
    the bundle to a file, which is `out` or in the run."""
    foreign = find_foreign(ref, number, version)
    if foreign is not None:
        return _review_foreign(foreign, command, budget, out, progress)
    request = ReviewRequest(ref, kind, version, number, command, budget, runs_dir)
    subject = find_subject(request)
    bundle = bundle_of(subject, budget, progress)
    if subject.command is not None:
        progress(3, 4, f"waiting for {subject.command[0]}")
        done = _answered(subject, bundle)
    else:
        done = _written(subject, bundle, out)
    progress(4, 4)
    return done


def _review_foreign(
    run: ForeignRun, command: str | None, budget: int, out: str | None, progress: ProgressCallback
) -> Review:
    """Reviews a run of another program. Nothing is stored: its folder belongs to that program. Without a
    command, the bundle is written to `out`, by default to a file in the current directory."""
    configured = load_settings().review_command(command) if command is not None else None
    check_budget(budget)
    bundle = foreign_bundle(run, budget)
    made = Review(
        id=new_id(),
        run=run.id,
        created=time.time(),
        checkpoint=None,
        episode=None,
        command="",
        seconds=0.0,
        parts=bundle.parts,
        bundle="",
    )
    if configured is None:
        file = Path(out or f"{run.id.replace('/', '-')}-review.md").expanduser()
        write_bundle(file, bundle.text, {})
        return replace(made, bundle=str(file))
    progress(3, 4, f"waiting for {configured[0]}")
    answer, seconds = _answer(*configured, bundle)
    progress(4, 4)
    return replace(made, command=configured[0], seconds=seconds, answer=answer.text, cut=answer.cut)


def _written(subject: Subject, bundle: Bundle, out: str | None) -> Review:
    """Writes a bundle to a file: `out`, or one in the run."""
    made = _review(subject, bundle)
    if out is None:
        write_review(subject.run, made, bundle.text, bundle.files)
        return made
    file = Path(out).expanduser()
    # Frames of several bundles in one directory must not overwrite each other.
    files = {f"{file.stem}-{name}": png for name, png in bundle.files.items()}
    write_bundle(file, bundle.text.replace("](frames/", f"]({file.stem}-frames/"), files)
    return _review(subject, bundle, bundle_path=str(file))


def _answered(subject: Subject, bundle: Bundle) -> Review:
    """Runs the command, and stores its answer."""
    assert subject.command is not None
    answer, seconds = _answer(*subject.command, bundle)
    made = _review(
        subject,
        bundle,
        command=subject.command[0],
        seconds=seconds,
        answer=answer.text,
        cut=answer.cut,
    )
    write_review(subject.run, made, bundle.text, bundle.files)
    return made


def _answer(name: str, command: ReviewCommand, bundle: Bundle) -> tuple[Answer, float]:
    """Runs the command in a directory that has only the bundle; returns its answer, and the seconds that it
    took."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gymnast-review-") as folder:
        write_bundle(Path(folder) / BUNDLE, bundle.text, bundle.files)
        answer = run_command(name, command, bundle.text, Path(folder))
    return answer, time.monotonic() - start


def _review(
    subject: Subject,
    bundle: Bundle,
    *,
    command: str = "",
    seconds: float = 0.0,
    answer: str = "",
    cut: str = "",
    bundle_path: str = "",
) -> Review:
    review_id = new_id()
    return Review(
        id=review_id,
        run=subject.run.id,
        created=time.time(),
        checkpoint=subject.step,
        episode=subject.episode,
        command=command,
        seconds=seconds,
        parts=bundle.parts,
        bundle=bundle_path or str(bundle_file(subject.run, review_id)),
        answer=answer,
        cut=cut,
    )
