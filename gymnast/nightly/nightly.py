"""A whole night: chooses the steps, runs them, reports after each, and passes findings to a command."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from gymnast.errors import CommandFailed, UsageError
from gymnast.nightly import report as reporting
from gymnast.nightly.night import OnProgress, choose_steps, run_steps
from gymnast.nightly.record import DispatchedFinding, NightlyReport, StepReport
from gymnast.nightly.step import NightlyStep
from gymnast.nightly.steps import STEPS
from gymnast.privacy.sanitize import Sanitizer, this_identity
from gymnast.runs.machine import cpu_info
from gymnast.runs.revision import revision
from gymnast.settings import DispatchCommand, load_settings
from gymnast.text.formatting import count_noun
from gymnast.user_command import run_command

DEFAULT_MINUTES, MAX_MINUTES = 60.0, 24 * 60.0
MAX_ANSWER = 500
"""Characters of the answer of a command in the report."""


@dataclass(frozen=True)
class Night:
    """A request for a night."""

    steps: Sequence[str] = ()
    """Names of steps; empty: all."""
    minutes: float = DEFAULT_MINUTES
    """Time for all steps together."""
    seed: int | None = None
    """Number of the night; None: that of the date."""
    dispatch: str | None = None
    """Name of a command in the settings file that gets every finding."""
    strict: bool = False
    """Whether a step that is skipped makes the night incomplete."""
    runs_dir: str = "."
    """The runs directory, whose path does not appear in the report."""


def run_night(
    night: Night,
    on_progress: OnProgress,
    registry: Mapping[str, NightlyStep] = STEPS,
) -> Iterator[NightlyReport]:
    """Yields the report after every step; the last one is complete, also after Ctrl-C. Raises UsageError
    before the first step if something that is asked for does not exist."""
    if not 0 < night.minutes <= MAX_MINUTES:
        problem = f"a night of {night.minutes:g} minutes is not possible"
        raise UsageError(problem, fix=f"choose up to {MAX_MINUTES:g}")
    steps = choose_steps(night.steps, registry)
    # The settings first: a wrong name must not be noticed after an hour.
    command = load_settings().dispatch_command(night.dispatch) if night.dispatch else None
    began, now = time.monotonic(), datetime.now(UTC)
    seed = now.date().toordinal() if night.seed is None else night.seed
    cpu = cpu_info()
    empty = NightlyReport(
        started=now.strftime("%Y-%m-%d %H:%M"),
        seconds=0.0,
        minutes=night.minutes,
        seed=seed,
        version=metadata.version("gymnast"),
        revision=revision(),
        machine=f"{cpu['model']}, {count_noun(cpu['cores'], 'core')}",
        steps=(),
        finished=False,
        exit_code=reporting.NOT_RUN,
        verdict="",
    )
    context = reporting.context_sentence(
        empty.started, empty.version, empty.revision, empty.machine
    )
    sanitizer = Sanitizer(this_identity(Path(night.runs_dir)))

    def made(steps: Sequence[StepReport], *, finished: bool) -> NightlyReport:
        return replace(
            empty,
            seconds=time.monotonic() - began,
            steps=reporting.cleaned(steps, sanitizer, context),
            finished=finished,
            exit_code=reporting.exit_code(steps, strict=night.strict),
            verdict=reporting.verdict(steps),
        )

    so_far: tuple[StepReport, ...] = ()
    for so_far in run_steps(steps, seed=seed, seconds=60 * night.minutes, on_progress=on_progress):
        yield made(so_far, finished=False)
    complete = made(so_far, finished=True)
    if command is not None and night.dispatch is not None:
        complete = replace(
            complete, dispatched=tuple(_dispatch(night.dispatch, command, complete, on_progress))
        )
    yield complete


def _dispatch(
    name: str, command: DispatchCommand, report: NightlyReport, on_progress: OnProgress
) -> Iterator[DispatchedFinding]:
    """Passes the text of every finding to a command, each on standard input; yields what became of it."""
    for finding in report.findings:
        on_progress("dispatch", finding.title)
        with tempfile.TemporaryDirectory(prefix="gymnast-dispatch-") as folder:
            try:
                answer = run_command(
                    name, command, finding.text, Path(folder), kind="dispatch", may_be_silent=True
                )
            except CommandFailed as error:
                yield DispatchedFinding(finding.title, False, str(error)[:MAX_ANSWER])
                continue
        yield DispatchedFinding(finding.title, True, answer.text[:MAX_ANSWER])
