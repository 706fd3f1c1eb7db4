"""The data directory of a run: the one that was resolved when it started, recorded in run.json."""

from __future__ import annotations

import os
from pathlib import Path

from gymnast.data_dir import data_dir
from gymnast.errors import RunError
from gymnast.runs import trust
from gymnast.runs.run import Run


def record_of_data_dir(data: Path, runs_dir: Path) -> str:
    """Returns a data directory as run.json stores it: relative to the runs directory if both are in the same
    folder, so that they may be moved together, else absolute."""
    runs = Path(os.path.abspath(runs_dir))
    return os.path.relpath(data, runs) if data.is_relative_to(runs.parent) else str(data)


def run_data_dir(run: Run, option: str | Path | None = None) -> Path:
    """Returns the data directory of a run: `option` (--data), else the recorded one, else that of its runs
    directory (`data_dir`). Raises RunError if the recorded one is elsewhere and this user did not choose it:
    a run must not decide where its readers write."""
    runs = Path(os.path.abspath(run.path)).parent
    recorded = run.info.get("data")
    if option or not recorded:
        return data_dir(option, runs)
    path = data_dir(runs / recorded, runs)
    if path != data_dir(None, runs) and not _is_chosen(run, recorded):
        problem = f"records the data directory {path}, which was not chosen by you here"
        raise RunError(problem, at=str(run.path), fix=f"name one: --data {path}")
    return path


def sign_data_dir(run: Run, parent: Run | None = None) -> None:
    """Signs the data directory of a new run, which its user chose. `parent`: the run that a branch has it
    from, which must be signed too."""
    recorded = run.info.get("data")
    if not recorded or _is_usual(run, recorded):
        return
    if parent is None or _is_chosen(parent, recorded):
        trust.sign(run.path, f"data {recorded}")


def _is_chosen(run: Run, recorded: str) -> bool:
    return _is_usual(run, recorded) or trust.is_signed(run.path, f"data {recorded}")


def _is_usual(run: Run, recorded: str) -> bool:
    """Returns whether this is the directory `data` next to the runs, which needs no signature."""
    runs = Path(os.path.abspath(run.path)).parent
    return os.path.normpath(runs / recorded) == str(runs.parent / "data")
