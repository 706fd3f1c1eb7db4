"""Finds the files of a foreign run in a folder, by their names and first bytes, and reads them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from gymnast.errors import RunError
from gymnast.foreign import files
from gymnast.foreign.event_file import is_event_file
from gymnast.foreign.log import RunLog
from gymnast.foreign.wandb_file import is_wandb_file

SUPPORTED = (
    "TensorBoard event files or a folder with them (SB3, CleanRL, any program whose names a column map"
    " explains), progress.csv and monitor.csv of Stable-Baselines3, offline runs of W&B (a folder or a .wandb"
    " file), wandb:ENTITY/PROJECT/RUN, and with --map FILE tables (.csv, .jsonl)"
)
MAX_DEPTH = 4
"""Levels of folders that are searched for runs."""
MAX_LISTED = 20
"""Number of runs of a folder in a message."""
MAX_FOUND = 200
"""Number of runs after which the search ends."""
_PROGRESS = "progress.csv"
_FIRST_BYTES = 64


def read_log(path: Path, mapped: bool) -> tuple[RunLog, str]:
    """Returns the content of the run in this file or folder, and its name. `mapped`: whether there is a
    column map, so that tables can be read. Raises RunError for an unknown format, and for a folder with
    several runs, which are listed."""
    found = _read(path, mapped)
    if found is not None:
        return found
    if not path.is_dir():
        raise RunError(
            "is no run in a format that can be read", at=str(path), fix=f"use {SUPPORTED}"
        )
    folders = list(islice(_run_folders(path), MAX_FOUND))
    if not folders:
        problem = (
            "has no run of gymnast (no run.json), and no run in another format that can be read"
        )
        raise RunError(problem, at=str(path), fix=f"use {SUPPORTED}")
    if len(folders) > 1:
        listed = "\n".join(f"  {folder}" for folder in folders[:MAX_LISTED])
        more = f"\n  and {len(folders) - MAX_LISTED} more" if len(folders) > MAX_LISTED else ""
        at_least = "at least " if len(folders) == MAX_FOUND else ""
        problem = f"has {at_least}{len(folders)} runs:\n{listed}{more}"
        raise RunError(problem, at=str(path), fix="name one of them")
    content = _read(folders[0], mapped)
    assert content is not None
    return content


def _read(path: Path, mapped: bool) -> tuple[RunLog, str] | None:
    """Returns the content and name of the run in exactly this file or folder; None if there is none."""
    if path.is_dir():
        return _read_folder(path, path.resolve().name)
    if mapped and path.suffix.lower() in (".csv", ".jsonl"):
        return files.read_mapped_table(str(path)), path.stem
    if path.name == _PROGRESS:
        return files.read_progress(path), path.resolve().parent.name
    if path.suffix.lower() == ".csv" and files.is_monitor_file(path):
        return files.read_monitor_files([path]), path.resolve().parent.name
    first = _first_bytes(path)
    if is_event_file(first):
        return files.read_event_files([path]), path.resolve().parent.name
    if is_wandb_file(first):
        log, name = files.read_wandb_file(path)
        return log, name or path.stem
    return None


def _read_folder(folder: Path, name: str) -> tuple[RunLog, str] | None:
    if (progress := folder / _PROGRESS).is_file():
        return files.read_progress(progress), name
    if events := _event_files(folder):
        return files.read_event_files(events), name
    if wandb := sorted(folder.glob("*.wandb")):
        log, own_name = files.read_wandb_file(wandb[0])
        return log, own_name or name
    if monitored := files.monitor_files(folder):
        return files.read_monitor_files(monitored), name
    return None


def _event_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*tfevents*")) if file.is_file()]


def _run_folders(folder: Path, depth: int = MAX_DEPTH) -> Iterator[Path]:
    """Yields the folders below this one that have a run, in the order of their names."""
    for inner in _entries(folder) if depth else ():
        # W&B's `latest-run` is a link to a folder that is found anyway
        if not inner.is_dir() or inner.is_symlink() or inner.name.startswith("."):
            continue
        is_run = (
            (inner / _PROGRESS).is_file()
            or _event_files(inner)
            or any(inner.glob("*.wandb"))
            or files.monitor_files(inner)
        )
        if is_run:
            yield inner
        else:
            yield from _run_folders(inner, depth - 1)


def _entries(folder: Path) -> list[Path]:
    """Returns the content of a folder in the order of its names; nothing if it must not be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_FIRST_BYTES)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise RunError(problem, at=str(path), fix="check the path") from error
