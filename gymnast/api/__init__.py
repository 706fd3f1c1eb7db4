"""Everything that may be asked of gymnast or done with it: the functions behind the command line.

Importing this package imports neither torch nor gymnasium, and each function imports its module when it
is first used. Functions return records (frozen dataclasses, see `gymnast.records`) and raise GymnastError;
`call` does the same by name, with JSON arguments, and returns errors as values. What needs an environment
or a network is a task in a child process (`gymnast.tasks`). `ref` is a reference to a run as in
`gymnast.runs.store.resolve`; `runs_dir` is the runs directory, None for GYMNAST_RUNS or ./runs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from gymnast.api.operation import CHANGES, READS, TASK, Operation

if TYPE_CHECKING:
    from gymnast.api.calling import call as call
    from gymnast.api.control import checkpoint as checkpoint
    from gymnast.api.control import evaluate_live as evaluate_live
    from gymnast.api.control import pause as pause
    from gymnast.api.control import set_live as set_live
    from gymnast.api.control import stop as stop
    from gymnast.api.control import unpause as unpause
    from gymnast.api.housekeeping import init as init
    from gymnast.api.housekeeping import note as note
    from gymnast.api.housekeeping import prune as prune
    from gymnast.api.housekeeping import remove as remove
    from gymnast.api.housekeeping import tag as tag
    from gymnast.api.reading import charts as charts
    from gymnast.api.reading import compare as compare
    from gymnast.api.reading import config_check as config_check
    from gymnast.api.reading import config_diff as config_diff
    from gymnast.api.reading import config_fmt as config_fmt
    from gymnast.api.reading import config_show as config_show
    from gymnast.api.reading import doctor as doctor
    from gymnast.api.reading import export as export
    from gymnast.api.reading import find_run as find_run
    from gymnast.api.reading import metrics as metrics
    from gymnast.api.reading import presets as presets
    from gymnast.api.reading import report as report
    from gymnast.api.reading import rows as rows
    from gymnast.api.reading import rows_csv as rows_csv
    from gymnast.api.reading import runs as runs
    from gymnast.api.reading import show as show
    from gymnast.api.training import cancel as cancel
    from gymnast.api.training import dry_run as dry_run
    from gymnast.api.training import group as group
    from gymnast.api.training import jobs as jobs
    from gymnast.api.training import resume as resume
    from gymnast.api.training import start as start
    from gymnast.api.training import wait as wait

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("runs", READS, "reading"),
        Operation("show", READS, "reading"),
        Operation("rows", READS, "reading"),
        Operation("rows_csv", READS, "reading"),
        Operation("charts", READS, "reading"),
        Operation("compare", READS, "reading"),
        Operation("doctor", READS, "reading"),
        Operation("presets", READS, "reading"),
        Operation("metrics", READS, "reading"),
        Operation("config_show", READS, "reading"),
        Operation("config_check", READS, "reading"),
        Operation("config_diff", READS, "reading"),
        Operation("config_fmt", READS, "reading"),
        Operation("find_run", READS, "reading"),
        Operation("report", CHANGES, "reading"),
        Operation("export", CHANGES, "reading"),
        Operation("dry_run", READS, "training"),
        Operation("start", CHANGES, "training"),
        Operation("resume", CHANGES, "training"),
        Operation("jobs", READS, "training"),
        Operation("wait", READS, "training"),
        Operation("cancel", CHANGES, "training"),
        Operation("group", READS, "training"),
        Operation("stop", CHANGES, "control"),
        Operation("pause", CHANGES, "control"),
        Operation("unpause", CHANGES, "control"),
        Operation("checkpoint", CHANGES, "control"),
        Operation("set_live", CHANGES, "control"),
        Operation("evaluate_live", CHANGES, "control"),
        Operation("remove", CHANGES, "housekeeping"),
        Operation("prune", CHANGES, "housekeeping"),
        Operation("tag", CHANGES, "housekeeping"),
        Operation("note", CHANGES, "housekeeping"),
        Operation("init", CHANGES, "housekeeping"),
    )
}
"""Name -> operation, for `call` and for the pages and servers that offer them."""

__all__ = ["CHANGES", "OPERATIONS", "READS", "TASK", "Operation", "call", *OPERATIONS]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name == "call":
        return importlib.import_module("gymnast.api.calling").call
    if name not in OPERATIONS:
        raise AttributeError(f"module 'gymnast.api' has no attribute {name!r}")
    return OPERATIONS[name].function
