"""Chooses the runs that are monitored: by approach, by reference, all, or those of the newest environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.insight.sides import resolve_sides
from gymnast.monitor.stored_run import approach_of
from gymnast.runs import store
from gymnast.runs.summary import RunSummary
from gymnast.text.suggestions import did_you_mean


@dataclass(frozen=True)
class Selection:
    """The answer to which runs to monitor."""

    approaches: tuple[str, ...] = ()
    """Tags or variants; every run that has one of them."""
    refs: tuple[str, ...] = ()
    """References to runs or groups of seeds, in addition."""
    all_runs: bool = False
    """Whether every run of the directory is selected."""
    env: str = ""
    """Only runs of this environment, and all of them without another selection; empty for any."""

    @property
    def is_empty(self) -> bool:
        return not (self.approaches or self.refs or self.all_runs or self.env)


def select_runs(selection: Selection, runs_dir: Path) -> list[RunSummary]:
    """Returns the selected runs; without a selection, all runs of the environment of the newest run. Runs
    that only have games of people are selected only by reference. Raises UsageError for an approach or an
    environment that no run has, RunError for an unknown reference and if there are no runs."""
    listed = store.list_runs(runs_dir)
    trained = _runs_of_env(selection.env, [run for run in listed if not run.is_untrained])
    if selection.is_empty:
        return _runs_of_newest_env(trained, runs_dir)
    named = [run for side in resolve_sides(selection.refs, runs_dir) for run in side.runs]
    chosen = [store.read_summary(run.path) for run in named]
    if selection.all_runs or not (selection.refs or selection.approaches):
        chosen += trained
    for approach in selection.approaches:
        chosen += _runs_of_approach(approach, trained)
    if not chosen:
        raise _no_runs(runs_dir)
    return list({run.path: run for run in chosen}.values())


def _runs_of_env(env: str, runs: Sequence[RunSummary]) -> list[RunSummary]:
    found = [run for run in runs if env in ("", run.env)]
    if env and not found:
        known = sorted({run.env for run in runs if run.is_readable})
        raise UsageError(
            f"no run has the environment {env!r}{did_you_mean(env, known)}",
            fix=f"use one of: {', '.join(known) or 'there are no runs'}",
        )
    return found


def _runs_of_newest_env(runs: Sequence[RunSummary], runs_dir: Path) -> list[RunSummary]:
    newest = next((run for run in runs if run.is_readable), None)
    if newest is None:
        raise _no_runs(runs_dir)
    return [run for run in runs if run.env == newest.env]


def _runs_of_approach(approach: str, runs: Sequence[RunSummary]) -> list[RunSummary]:
    found = [run for run in runs if approach_of(run, [approach]) == approach]
    if not found:
        known = sorted({approach_of(run) for run in runs if run.is_readable})
        raise UsageError(
            f"no run has the approach {approach!r}{did_you_mean(approach, known)}",
            fix=f"use a tag or a variant: {', '.join(known) or 'there are no runs'}",
        )
    return found


def _no_runs(runs_dir: Path) -> RunError:
    return RunError(
        f"there are no runs in {runs_dir}",
        fix="train one (`gymnast train tag:selfplay`), or name another directory with --runs DIR",
    )
