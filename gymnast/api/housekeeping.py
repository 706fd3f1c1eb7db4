"""Deletes, tags and annotates runs, and creates projects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.runs import removal, store
from gymnast.runs.removal import Protection, PruneFilter, Removal
from gymnast.runs.run import ACTIVE, STATUSES, Run
from gymnast.runs.store import RunsDir
from gymnast.runs.summary import RunSummary, summarize


@dataclass(frozen=True)
class RunLabels:
    """The tags and the note of a run."""

    id: str
    tags: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class NewProject:
    """A project that was created from the template."""

    name: str
    directory: str
    files: tuple[str, ...]


def remove(refs: Sequence[str], *, dry_run: bool = False, runs_dir: RunsDir = None) -> Removal:
    """Deletes runs permanently: all of them, or none if one does not exist or is training. `dry_run`: only
    returns what would be deleted."""
    directory = store.runs_dir(runs_dir)
    # By path, so that a run given twice, e.g. as its id and as @last, is deleted once.
    runs = {run.path.resolve(): run for run in (_find(ref, directory) for ref in refs)}
    for run in runs.values():
        removal.ensure_not_running(run)
    every = store.list_runs(directory)
    listed = {Path(run.path).resolve(): run for run in every}
    to_delete = [listed.get(path) or _unlisted(run) for path, run in runs.items()]
    plan = removal.plan_removal(to_delete, every)
    return plan if dry_run else _delete(plan, directory)


def prune(
    filter: str = "",
    *,
    keep: int = 0,
    older: str = "",
    status: Sequence[str] = (),
    unsolved: bool = False,
    include: Sequence[Protection] = (),
    dry_run: bool = False,
    runs_dir: RunsDir = None,
) -> Removal:
    """Deletes the runs that match every condition; at least one is needed. Tagged runs, the runs that @best
    and @best:ENV refer to, parents of runs that are kept, and "foreign" runs, whose directory has files that
    gymnast did not write, are kept unless `include` names them. Active runs are always kept.

    `filter`: words or FIELD=VALUE, as for `runs`; `keep`: keep the newest N of the matching runs; `older`:
    only runs created longer ago, such as 30d, 12h or 2w; `status`: only runs with one of these statuses;
    `unsolved`: only runs that did not reach their threshold; `dry_run`: only returns what would be
    deleted."""
    if not (filter or keep or older or status or unsolved):
        fix = "add a filter, --keep, --older, --status or --unsolved"
        raise UsageError("no condition: which runs to prune?", fix=fix)
    _check_statuses(status)
    choice = PruneFilter(
        min_age=removal.parse_age(older) if older else None,
        status=tuple(status),
        only_unsolved=unsolved,
        keep=keep,
        ignored_protections=tuple(include),
    )
    directory = store.runs_dir(runs_dir)
    # All runs are needed even with a filter: what is protected (@best, parents) depends on the others.
    every = store.list_runs(directory)
    matching = store.list_runs(directory, filter) if filter else every
    to_delete, kept = removal.select_prunable(every, choice, matching)
    plan = removal.plan_removal(to_delete, every, kept)
    return plan if dry_run else _delete(plan, directory)


def tag(
    ref: str, tags: Sequence[str] = (), *, remove: bool = False, runs_dir: RunsDir = None
) -> RunLabels:
    """Adds tags to a run, or removes them, and returns its tags. Without tags, only returns them."""
    run = _find(ref, store.runs_dir(runs_dir))
    if tags:
        run.tag(tags, remove=remove)
    return _labels(run)


def note(ref: str, text: str | None = None, *, runs_dir: RunsDir = None) -> RunLabels:
    """Sets the note of a run and returns it; an empty text removes it. Without a text, only returns it."""
    run = _find(ref, store.runs_dir(runs_dir))
    if text is not None:
        run.update(note=text.strip())
    return _labels(run)


def init(name: str, *, directory: str = ".") -> NewProject:
    """Creates an environment package NAME from a template in `directory`, with its test and its preset
    presets/NAME.yaml. The template works as it is and is meant to be edited. No existing file is
    overwritten."""
    from gymnast import scaffold

    parent = Path(directory).expanduser()
    files = scaffold.write_project(name, parent)
    return NewProject(name, str(parent), tuple(map(str, files)))


def _delete(plan: Removal, directory: Path) -> Removal:
    removal.delete_trash(directory)  # left by a deletion that was interrupted
    for run in plan.runs:
        removal.remove(Run(Path(run.path)))
    return replace(plan, deleted=bool(plan.runs))


def _find(ref: str, directory: Path) -> Run:
    """Returns the run that `ref` names; raises UsageError if it names a checkpoint of the run."""
    run, checkpoint = store.resolve(ref, directory)
    if checkpoint is not None:
        problem = f"{ref} names a checkpoint, but this command needs a run"
        raise UsageError(problem, fix="omit the checkpoint")
    return run


def _labels(run: Run) -> RunLabels:
    info = run.info
    return RunLabels(run.id, tuple(info["tags"]), info["note"])


def _check_statuses(statuses: Sequence[str]) -> None:
    """Raises UsageError for an unknown status and for that of an active run, which cannot be pruned."""
    known = ("lost", "unreadable", *(status for status in STATUSES if status not in ACTIVE))
    for status in statuses:
        if status not in known:
            problem = f"runs cannot be pruned by status {status!r}"
            raise UsageError(problem, fix=f"use {', '.join(known)}")


def _unlisted(run: Run) -> RunSummary:
    """Returns the summary of a run given by its path, outside the runs directory."""
    return summarize(run.path, run.info, run.status)
