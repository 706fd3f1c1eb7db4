"""Reviews of runs and episodes by a command of the user."""

from __future__ import annotations

from collections.abc import Sequence

from gymnast.errors import GymnastError, UsageError
from gymnast.review import prepare
from gymnast.review.bundle import check_budget
from gymnast.review.foreign import find_foreign, foreign_bundle
from gymnast.review.part import DEFAULT_BUDGET
from gymnast.review.record import Review, ReviewContents, ReviewList, RunsReview
from gymnast.review.stored import find_review, list_reviews
from gymnast.runs import store
from gymnast.runs.episodes import Kind
from gymnast.runs.store import RunsDir
from gymnast.settings import load_settings
from gymnast.tasks import Task, start

DEFAULT_LAST = 5
"""Number of the last runs that are reviewed together."""


def review_contents(
    ref: str = "@last",
    *,
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    command: str | None = None,
    budget: int = DEFAULT_BUDGET,
    runs_dir: RunsDir = None,
) -> ReviewContents:
    """Returns what `review` with the same arguments would send, part by part, and to which command. Nothing
    is sent or written."""
    name, directory = prepare.choose_command(command), str(store.runs_dir(runs_dir))
    foreign = find_foreign(ref, number, version)
    if foreign is not None:
        check_budget(budget)
        bundle = foreign_bundle(foreign, budget)
        return ReviewContents(
            run=foreign.id,
            checkpoint=None,
            episode=None,
            parts=bundle.parts,
            chars=len(bundle.text),
            frames=(),
            command=name or "",
            commands=tuple(load_settings().review),
        )
    request = prepare.ReviewRequest(ref, kind, version, number, name, budget, directory)
    subject = prepare.find_subject(request)
    bundle = prepare.bundle_of(subject, budget)
    return ReviewContents(
        run=subject.run.id,
        checkpoint=subject.step,
        episode=subject.episode,
        parts=bundle.parts,
        chars=len(bundle.text),
        frames=bundle.frames,
        command=name or "",
        commands=tuple(load_settings().review),
    )


def review(
    ref: str = "@last",
    *,
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    command: str | None = None,
    confirm: bool = False,
    budget: int = DEFAULT_BUDGET,
    out: str | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[Review]:
    """Gives a bundle about a run (status, diagnosis, alerts, settings, charts, events) to a command of the
    user's settings file, on standard input, and stores its answer with the run. With `number` or `version`,
    the bundle also has a stored episode, which they and `kind` name as in `episodes`: its key moments, steps
    and some frames.

    `command`: the name of one of the commands in the settings file, by default the first; `confirm`: must be
    true if there is a command, and says that the user has seen what is sent (`review_contents`); `budget`:
    maximum size of the bundle in characters; `out`: a file for the bundle, which is then given to no command.
    Without a configured command, the bundle is written to a file in the run.

    `ref` may also be a foreign run, as in `doctor`. Then nothing is stored with the run: the answer of the
    command is only returned, and without a command the bundle is written to `NAME-review.md` in the current
    directory."""
    name = prepare.choose_command(command) if out is None else None
    check_budget(budget)
    if name is not None and not confirm:
        raise UsageError(
            f"nothing was sent: the command {name!r} would receive the bundle",
            fix="look at the contents (review_contents), then confirm them (confirm: true)",
        )
    arguments = {"ref": ref, "kind": kind, "version": version, "number": number}
    arguments |= {"command": name, "budget": budget, "out": out}
    return start(
        "gymnast.review.task:review",
        arguments | {"runs_dir": store.runs_dir(runs_dir)},
        Review,
        title=f"review {ref}",
        deadline=deadline,
    )


def review_runs(
    refs: Sequence[str] = (),
    *,
    last: int | None = None,
    budget: int = DEFAULT_BUDGET,
    runs_dir: RunsDir = None,
) -> RunsReview:
    """Returns one document about several runs, newest first: overview, comparison (runs that differ only in
    their seed are compared as a group), settings that differ, diagnosis and alerts of each, charts as text,
    events, and the config. Nothing is sent or written. Names, home directories and secrets are replaced.

    `refs`: runs, groups of seeds, or runs joined to a group (`a+b`); `last`: instead of these, the number of
    the runs that were started last, by default 5; `budget`: maximum size in characters. What does not fit is
    cut, the least important part first, and every part says how much of it is missing."""
    from gymnast.review import several

    number = DEFAULT_LAST if last is None and not refs else last
    return several.review_runs(refs, number, budget, store.runs_dir(runs_dir))


def reviews(ref: str = "@last", *, id: str = "", runs_dir: RunsDir = None) -> ReviewList:
    """Returns the stored reviews of a run, newest first, and the names of the commands in the settings file.
    `id`: only the review with this id, or the only one whose id starts with it; raises UsageError if there is
    none."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    found, problems = list_reviews(run)
    if id:
        found = [find_review(found, id)]
    try:
        commands = tuple(load_settings().review)
    except GymnastError as error:
        commands = ()
        problems.append(str(error))
    return ReviewList(run.id, tuple(found), commands, "\n".join(problems))
