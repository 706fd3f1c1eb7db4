"""A night as a task."""

from __future__ import annotations

from collections.abc import Sequence

from gymnast.nightly.nightly import Night, run_night
from gymnast.nightly.record import NightlyReport
from gymnast.progress import ProgressCallback


def nightly(
    *,
    steps: Sequence[str],
    minutes: float,
    seed: int | None,
    dispatch: str | None,
    strict: bool,
    runs_dir: str,
    progress: ProgressCallback,
) -> NightlyReport:
    """Runs the nightly checks, see `api.nightly`. Its jobs are tasks of this process."""
    night = Night(tuple(steps), minutes, seed, dispatch, strict, runs_dir)
    report: NightlyReport | None = None
    for report in run_night(night, lambda step, text: progress(0, 0, f"{step}: {text}")):
        done = sum(one.state != "waiting" for one in report.steps)
        progress(done, len(report.steps), report.verdict)
    assert report is not None, "a night has at least one report"
    return report
