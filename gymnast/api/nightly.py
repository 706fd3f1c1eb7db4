"""Nightly checks: unattended, with one report."""

from __future__ import annotations

from collections.abc import Sequence

from gymnast.nightly.nightly import DEFAULT_MINUTES
from gymnast.nightly.record import NightlyReport
from gymnast.runs import store
from gymnast.runs.store import RunsDir
from gymnast.tasks import Task, start


def nightly(
    steps: Sequence[str] = (),
    *,
    minutes: float = DEFAULT_MINUTES,
    seed: int | None = None,
    dispatch: str | None = None,
    strict: bool = False,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[NightlyReport]:
    """Validates all presets, trains each for a second, repeats a sample of the stored results and measures
    speed ratios; every finding is the text of a task, with the command that shows it again.

    `steps`: config, check, reproduce or benchmarks, by default all; `minutes`: time for all of them
    together; `seed`: number of the night, which decides where the samples start, by default that of the date;
    `dispatch`: name of a command in the settings file that gets every finding on standard input; `strict`: a
    step that is skipped makes the night incomplete."""
    arguments = {"steps": steps, "minutes": minutes, "seed": seed, "dispatch": dispatch}
    return start(
        "gymnast.nightly.task:nightly",
        arguments | {"strict": strict, "runs_dir": store.runs_dir(runs_dir)},
        NightlyReport,
        title="nightly checks",
        deadline=deadline,
    )
