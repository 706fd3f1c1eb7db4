"""The data directory: what is made from runs and kept outside of them, such as trajectories and monitor output.

Training, evaluation, trajectories, metrics and the monitor all call `data_dir`, so that they agree on the place.
"""

from __future__ import annotations

import os
from pathlib import Path

from gymnast.errors import UsageError

DATA_DIR_VAR = "GYMNAST_DATA"
"""Environment variable with the path of the data directory."""


def data_dir(option: str | Path | None, runs_dir: Path) -> Path:
    """Returns the data directory as an absolute path: `option` (--data), else GYMNAST_DATA, else `data` next to
    the runs directory. It need not exist. Raises UsageError if the path is a file."""
    variable = os.environ.get(DATA_DIR_VAR)
    named = option or variable
    # Absolute first: the parent of the runs directory `.` is not `.`.
    path = Path(named).expanduser() if named else Path(os.path.abspath(runs_dir)).parent / "data"
    if path.exists() and not path.is_dir():
        source = "--data" if option else DATA_DIR_VAR if variable else "the default data directory"
        problem = f"{source} is a file (expected a directory)"
        fix = f"name another directory with --data DIR or {DATA_DIR_VAR}"
        raise UsageError(problem, at=str(path), fix=fix)
    return Path(os.path.abspath(path))
