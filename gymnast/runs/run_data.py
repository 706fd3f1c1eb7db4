"""The data directory of a run: the one that was resolved when it started, recorded in run.json."""

from __future__ import annotations

import os
from pathlib import Path

from gymnast.data_dir import data_dir
from gymnast.runs.run import Run


def record_of_data_dir(data: Path, runs_dir: Path) -> str:
    """Returns a data directory as run.json stores it: relative to the runs directory if both are in the same
    folder, so that they may be moved together, else absolute."""
    runs = Path(os.path.abspath(runs_dir))
    return os.path.relpath(data, runs) if data.is_relative_to(runs.parent) else str(data)


def run_data_dir(run: Run, option: str | Path | None = None) -> Path:
    """Returns the data directory of a run: `option` (--data), else the recorded one, else that of its runs
    directory (`data_dir`)."""
    runs = Path(os.path.abspath(run.path)).parent
    recorded = run.info.get("data")
    if option or not recorded:
        return data_dir(option, runs)
    return data_dir(runs / recorded, runs)
