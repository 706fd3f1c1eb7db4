"""Runs that are no longer wanted: how big they are, which may go, and deleting them for good.

A run is renamed to a hidden name before its files go, so that it is whole or gone for whoever
looks; what a crash leaves of a hidden directory is deleted by the next removal.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gymnast.errors import RunError, UsageError
from gymnast.runs import durable, lock, store
from gymnast.runs.run import ACTIVE, Run

Reason = Literal["running", "tagged", "best", "parent", "newest"]
"""Why a run that was asked for stays."""
TRASH = ".trash-"
_AGES = {"min": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


@dataclass(frozen=True)
class Choice:
    """Which runs to prune: all that is given must hold."""

    older: float | None = None
    """Seconds since the run was created."""
    status: tuple[str, ...] = ()
    unsolved: bool = False
    keep: int = 0
    """The newest so many of the runs chosen stay."""
    include: tuple[str, ...] = ()
    """Of tagged, best and parent: what goes as well."""


def size(path: Path) -> int:
    """Bytes of all files of a run; those that go away meanwhile count as nothing."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total


def children(run_id: str, runs: Iterable[dict[str, Any]]) -> list[str]:
    """Runs that took their first weights from this one."""
    return [run["id"] for run in runs if run.get("parent") == run_id]


def choose(
    runs: Sequence[dict[str, Any]], choice: Choice, matching: Sequence[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, Reason]]:
    """Of the runs that match, newest first: those to prune, and why others among them stay."""
    now = time.time()
    doomed = [run for run in matching if _meant(run, choice, now)]
    kept: dict[str, Reason] = {run["id"]: "running" for run in doomed if run["status"] in ACTIVE}
    if "tagged" not in choice.include:
        kept |= {run["id"]: "tagged" for run in doomed if run.get("tags")}
    if "best" not in choice.include:
        kept |= dict.fromkeys({run["id"] for run in doomed} & _best(runs), "best")
    rest = [run["id"] for run in doomed if run["id"] not in kept]
    kept |= dict.fromkeys(rest[: choice.keep], "newest")
    if "parent" not in choice.include:
        kept |= _parents(runs, {run["id"] for run in doomed} - kept.keys())
    return [run for run in doomed if run["id"] not in kept], kept


def remove(run: Run) -> None:
    """Delete a run; refused while a process writes it. Gone from every list when this returns."""
    parent, trash = run.path.parent, run.path.with_name(f"{TRASH}{run.id}-{secrets.token_hex(4)}")
    refuse_running(run)
    with durable.explained(run.path):
        with lock.hold(run.path):
            run.path.rename(trash)
        durable.sync_directory(parent)
        _delete(trash)


def refuse_running(run: Run) -> None:
    try:
        running = run.status in ACTIVE
    except RunError:  # what cannot be read can be deleted
        return
    if running:
        raise RunError(f"{run.id} is running", fix="stop it first (Ctrl-C where it was started)")


def sweep(runs_dir: Path) -> None:
    """Finish removals that a crash cut short."""
    for trash in runs_dir.glob(f"{TRASH}*"):
        with suppress(OSError):
            _delete(trash)


def seconds(age: str) -> float:
    """`30d`, `12h`, `2w`, `90min` -> seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(min|h|d|w)", age.strip())
    if match is None:
        raise UsageError(f"{age!r} is not an age", fix="write 30d, 12h, 2w or 90min")
    return float(match[1]) * _AGES[match[2]]


def _meant(run: dict[str, Any], choice: Choice, now: float) -> bool:
    return (
        (choice.older is None or now - run["created"] > choice.older)
        and (not choice.status or run["status"] in choice.status)
        and not (choice.unsolved and run.get("solved") is True)
    )


def _best(runs: Sequence[dict[str, Any]]) -> set[str]:
    """What `@best` and `@best:ENV` mean now."""
    readable = [run for run in runs if run["status"] != "unreadable"]
    groups = [readable, *([r for r in readable if r["env"] == e] for e in _envs(readable))]
    return {found["id"] for group in groups if (found := store.best(group)) is not None}


def _envs(runs: Iterable[dict[str, Any]]) -> set[str]:
    return {run["env"] for run in runs}


def _parents(runs: Sequence[dict[str, Any]], doomed: Collection[str]) -> dict[str, Reason]:
    """Those of the doomed whose weights began a run that stays, and their own parents."""
    parent_of = {run["id"]: run.get("parent") for run in runs}
    kept: dict[str, Reason] = {}
    for run_id in parent_of.keys() - set(doomed):
        parent = parent_of.get(run_id)
        while parent is not None and parent in doomed and parent not in kept:
            kept[parent] = "parent"
            parent = parent_of.get(parent)
    return kept


def _delete(trash: Path) -> None:
    def unless_gone(_function: Any, _path: str, problem: Any) -> None:
        if not isinstance(problem[1], FileNotFoundError):  # another removal was quicker
            raise problem[1]

    shutil.rmtree(trash, onerror=unless_gone)
