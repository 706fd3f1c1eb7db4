"""The sides of a comparison: runs, groups of seeds, and runs that are joined to a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary

JOINT = "+"
"""Joins runs to a group: `a+b+c`."""


@dataclass(frozen=True)
class ComparisonSide:
    name: str
    """The name of the group as the user gave it, or the id of the run."""
    runs: tuple[Run, ...]
    is_group: bool


def resolve_sides(refs: Sequence[str], directory: Path) -> list[ComparisonSide]:
    """Returns for each reference the group of seeds that it names, or the run, or else the group that it
    joins with `+`. Raises RunError for an unknown one, UsageError for a run that is in a group twice."""
    listed = store.list_runs(directory)
    return [_resolve(ref, listed, directory) for ref in refs]


def _resolve(ref: str, listed: Sequence[RunSummary], directory: Path) -> ComparisonSide:
    """Returns the side that `ref` names. `listed`: all runs of the directory."""
    group = sorted((run for run in listed if run.group == ref), key=lambda run: run.seed or 0)
    if group:
        return ComparisonSide(ref, tuple(Run(Path(run.path)) for run in group), is_group=True)
    try:
        run, _ = store.resolve(ref, directory)
        return ComparisonSide(run.id, (run,), is_group=False)
    except RunError:
        if JOINT not in ref:
            raise
    joined = [_resolve(part.strip(), listed, directory) for part in ref.split(JOINT)]
    runs = tuple(run for side in joined for run in side.runs)
    run_id, times = Counter(run.id for run in runs).most_common(1)[0]
    if times > 1:
        raise UsageError(f"run {run_id} is in {ref!r} more than once", fix="name each run once")
    return ComparisonSide(ref, runs, is_group=True)
