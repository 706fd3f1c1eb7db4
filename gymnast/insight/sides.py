"""The sides of a comparison: runs, groups of seeds, and runs that are joined to a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gymnast.errors import RunError, UsageError
from gymnast.foreign.reference import ForeignOptions, is_foreign_name, names_foreign_run
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary

if TYPE_CHECKING:
    from gymnast.foreign.run import ForeignRun

JOINT = "+"
"""Joins runs to a group: `a+b+c`."""


@dataclass(frozen=True)
class ComparisonSide:
    name: str
    """The name of the group as the user gave it, or the id of the run."""
    runs: tuple[Run, ...]
    is_group: bool


@dataclass(frozen=True)
class MixedSide:
    """A side that may also have runs of other programs."""

    name: str
    """The name of the group or of the foreign run as the user gave it, or the id of the run."""
    runs: tuple[Run | ForeignRun, ...]
    is_group: bool


def has_foreign(refs: Sequence[str]) -> bool:
    """Returns whether one of these references names a foreign run, or joins one."""
    parts = {part.strip() for ref in refs for part in (ref, *ref.split(JOINT))}
    return any(is_foreign_name(part) or names_foreign_run(part) for part in parts)


def resolve_mixed_sides(refs: Sequence[str], directory: Path, env: str = "") -> list[MixedSide]:
    """Returns what `resolve_sides` returns, where a reference may also be a foreign run, or join some. `env`:
    the environment of foreign runs whose files do not name it."""
    listed = store.list_runs(directory)
    return [_resolve_mixed(ref, listed, directory, env) for ref in refs]


def _resolve_mixed(ref: str, listed: Sequence[RunSummary], directory: Path, env: str) -> MixedSide:
    from gymnast.foreign.open import open_foreign  # needs NumPy

    try:
        if names_foreign_run(ref):
            foreign = open_foreign(ref)
            if env and not foreign.env:
                foreign = open_foreign(ref, ForeignOptions(env=env))
            return MixedSide(ref, (foreign,), is_group=False)
        side = _resolve(ref, listed, directory)
        return MixedSide(side.name, side.runs, side.is_group)
    except RunError:
        if JOINT not in ref:
            raise
    joined = [_resolve_mixed(part.strip(), listed, directory, env) for part in ref.split(JOINT)]
    runs = tuple(run for side in joined for run in side.runs)
    return MixedSide(ref, runs, is_group=True)


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
