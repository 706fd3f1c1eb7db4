"""Deletion of runs: their size on disk, which ones may be pruned, and deleting them permanently.

A run is renamed to a hidden name before its files are deleted, so that other processes see it
completely or not at all. If a crash leaves a hidden directory, the next removal deletes it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gymnast.errors import RunError, UsageError
from gymnast.runs import durable, layout, lock, store
from gymnast.runs.run import ACTIVE, Run
from gymnast.runs.summary import RunSummary

Reason = Literal["running", "tagged", "best", "parent", "newest", "foreign"]
"""The reason why a run that matches the filter is kept."""
Protection = Literal["tagged", "best", "parent", "foreign"]
"""A reason that prune can ignore."""
TRASH = ".trash-"
_AGES = {"min": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


@dataclass(frozen=True)
class PruneFilter:
    """Conditions for pruning; a run is pruned if it satisfies every one that is set."""

    min_age: float | None = None
    """Minimum age in seconds since the run was created."""
    status: tuple[str, ...] = ()
    only_unsolved: bool = False
    keep: int = 0
    """Number of runs to keep, the newest of those chosen."""
    ignored_protections: tuple[Protection, ...] = ()


@dataclass(frozen=True)
class RemovableRun:
    """A run that is deleted, or would be."""

    id: str
    name: str
    preset: str
    status: str
    created: float
    """Time of its creation, in seconds since the epoch."""
    path: str
    bytes: int
    """Size of all of its files."""
    children: tuple[str, ...]
    """Ids of runs that started from it and are not deleted."""
    foreign_files: tuple[str, ...]
    """Files in its directory that gymnast did not write; they are deleted too."""


@dataclass(frozen=True)
class Removal:
    """The runs that are deleted, or would be."""

    deleted: bool
    """False if nothing was deleted: a dry run, or no run to delete."""
    runs: tuple[RemovableRun, ...]
    bytes: int
    """Size of all of these runs."""
    kept: Mapping[str, Reason]
    """Run id -> why it is kept, for runs that match the conditions of `prune`."""


def run_size(path: Path) -> int:
    """Returns the size of all files below `path` in bytes; files deleted in the meantime count as 0."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total


def children(run_id: str, runs: Iterable[RunSummary]) -> list[str]:
    """Returns the ids of those of `runs` that were initialized with weights of the run `run_id`."""
    return [run.id for run in runs if run.parent == run_id]


def select_prunable(
    runs: Sequence[RunSummary], prune_filter: PruneFilter, matching: Sequence[RunSummary]
) -> tuple[list[RunSummary], dict[str, Reason]]:
    """Returns the runs of `matching` (newest first) to prune, and run id -> reason for each one that
    satisfies the filter but is kept.

    `runs` are all runs: they determine what is best and what is a parent.
    """
    now = time.time()
    candidates = [run for run in matching if _satisfies(run, prune_filter, now)]
    kept: dict[str, Reason] = {run.id: "running" for run in candidates if run.status in ACTIVE}
    if "tagged" not in prune_filter.ignored_protections:
        kept |= {run.id: "tagged" for run in candidates if run.tags}
    if "best" not in prune_filter.ignored_protections:
        kept |= dict.fromkeys({run.id for run in candidates} & _best(runs), "best")
    if "foreign" not in prune_filter.ignored_protections:
        foreign = [run.id for run in candidates if layout.foreign_files(Path(run.path))]
        kept |= dict.fromkeys(foreign, "foreign")
    unprotected = [run.id for run in candidates if run.id not in kept]
    kept |= dict.fromkeys(unprotected[: prune_filter.keep], "newest")
    if "parent" not in prune_filter.ignored_protections:
        kept |= _parents(runs, {run.id for run in candidates} - kept.keys())
    return [run for run in candidates if run.id not in kept], kept


def plan_removal(
    to_delete: Sequence[RunSummary],
    every: Sequence[RunSummary],
    kept: Mapping[str, Reason] = {},
) -> Removal:
    """Describes the deletion of runs. `every`: all runs; some of them may have started from a deleted one."""
    deleted_ids = {run.id for run in to_delete}
    runs = tuple(
        RemovableRun(
            id=run.id,
            name=run.name,
            preset=run.preset,
            status=run.status,
            created=run.created,
            path=run.path,
            bytes=run_size(Path(run.path)),
            children=tuple(c for c in children(run.id, every) if c not in deleted_ids),
            foreign_files=tuple(layout.foreign_files(Path(run.path))),
        )
        for run in to_delete
    )
    return Removal(False, runs, sum(run.bytes for run in runs), kept)


def remove(run: Run) -> None:
    """Deletes a run; raises RunError while a process writes it. No listing has the run when this returns."""
    parent, trash = run.path.parent, run.path.with_name(f"{TRASH}{run.id}-{secrets.token_hex(4)}")
    ensure_not_running(run)
    with durable.explain_os_errors(run.path):
        with lock.hold(run.path):
            run.path.rename(trash)
        durable.sync_directory(parent)
        _delete(trash)


def ensure_not_running(run: Run) -> None:
    """Raises RunError if a process is training the run. An unreadable run counts as not running, so that it
    can be deleted."""
    try:
        running = run.status in ACTIVE
    except RunError:  # an unreadable run may be deleted
        return
    if running:
        raise RunError(f"{run.id} is running", fix="stop it first (Ctrl-C where it was started)")


def delete_trash(runs_dir: Path) -> None:
    """Finishes removals that a crash interrupted."""
    for trash in runs_dir.glob(f"{TRASH}*"):
        with suppress(OSError):
            _delete(trash)


def parse_age(age: str) -> float:
    """Converts an age such as `30d`, `12h`, `2w` or `90min` to seconds; raises UsageError for other texts."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(min|h|d|w)", age.strip())
    if match is None:
        raise UsageError(f"{age!r} is not an age", fix="write 30d, 12h, 2w or 90min")
    return float(match[1]) * _AGES[match[2]]


def _satisfies(run: RunSummary, prune_filter: PruneFilter, now: float) -> bool:
    """Returns whether a run meets every condition of the filter. `now`: seconds since the epoch."""
    return (
        (prune_filter.min_age is None or now - run.created > prune_filter.min_age)
        and (not prune_filter.status or run.status in prune_filter.status)
        and not (prune_filter.only_unsolved and run.solved is True)
    )


def _best(runs: Sequence[RunSummary]) -> set[str]:
    """Returns the ids of those of `runs` that `@best` and, for each environment, `@best:ENV` refer to now."""
    readable = [run for run in runs if run.is_readable]
    groups = [readable, *([r for r in readable if r.env == e] for e in _envs(readable))]
    return {found.id for group in groups if (found := store.best_run(group)) is not None}


def _envs(runs: Iterable[RunSummary]) -> set[str]:
    return {run.env for run in runs}


def _parents(runs: Sequence[RunSummary], candidates: Collection[str]) -> dict[str, Reason]:
    """Returns those of `candidates` to keep, id -> `parent`: runs whose weights initialized, directly or over
    several runs, one that is not a candidate for deletion."""
    parent_of = {run.id: run.parent for run in runs}
    kept: dict[str, Reason] = {}
    for run_id in parent_of.keys() - set(candidates):
        parent = parent_of.get(run_id)
        while parent is not None and parent in candidates and parent not in kept:
            kept[parent] = "parent"
            parent = parent_of.get(parent)
    return kept


def _delete(trash: Path) -> None:
    def unless_gone(
        _function: object, _path: str, problem: tuple[object, BaseException, object]
    ) -> None:
        if not isinstance(problem[1], FileNotFoundError):  # another process deleted it first
            raise problem[1]

    shutil.rmtree(trash, onerror=unless_gone)
