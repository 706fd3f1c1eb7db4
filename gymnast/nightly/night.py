"""Runs the steps of a night one after the other; each has a deadline, and none can stop the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gymnast.errors import Failure, GymnastError, InternalError, UsageError
from gymnast.nightly.record import JobResult, NightlyFinding, StepReport, StepState
from gymnast.nightly.step import Clock, Job, NightlyStep, StepContext, StepSkipped
from gymnast.tasks import Task, TaskProgress, start
from gymnast.text.formatting import count_noun
from gymnast.text.suggestions import did_you_mean

MIN_STEP_SECONDS = 10.0
"""Time that a step has at least, however little is left of the night."""
OnProgress = Callable[[str, str], None]
"""Called with the name of a step and what it is doing."""


def choose_steps(names: Sequence[str], steps: Mapping[str, NightlyStep]) -> list[NightlyStep]:
    """Returns the steps with these names, or all of them, in their order. Raises UsageError for an unknown
    name."""
    for name in names:
        if name not in steps:
            problem = f"there is no step {name!r}{did_you_mean(name, steps)}"
            raise UsageError(problem, fix=f"the steps are {', '.join(steps)}")
    return [step for name, step in steps.items() if not names or name in names]


def run_steps(
    steps: Sequence[NightlyStep], *, seed: int, seconds: float, on_progress: OnProgress
) -> Iterator[tuple[StepReport, ...]]:
    """Yields the reports of all steps after each of them; those whose turn has not come are `waiting`. What
    a step does not use of its time is left for the others. Ctrl-C ends the step that runs, and the others
    are not run."""
    reports = [
        StepReport(step.name, step.title, "waiting", "its turn has not come") for step in steps
    ]
    night = Clock(seconds)
    for index, step in enumerate(steps):
        shares = sum(other.share for other in steps[index:])
        clock = Clock(max(MIN_STEP_SECONDS, night.left * step.share / shares))
        reports[index] = run_step(step, StepContext(seed, clock), on_progress)
        if reports[index].state == "interrupted":
            rest = range(index + 1, len(steps))
            for later in rest:
                not_run = "not run: the night was interrupted"
                reports[later] = replace(reports[later], state="interrupted", summary=not_run)
            yield tuple(reports)
            return
        yield tuple(reports)


@dataclass
class _Progress:
    """The results of the jobs of a step so far."""

    done: int = 0
    findings: list[NightlyFinding] = field(default_factory=list[NightlyFinding])
    failures: list[NightlyFinding] = field(default_factory=list[NightlyFinding])
    notes: list[str] = field(default_factory=list[str])
    skipped: list[str] = field(default_factory=list[str])


def run_step(step: NightlyStep, context: StepContext, on_progress: OnProgress) -> StepReport:
    """Runs the jobs of a step. A job that fails or does not finish in time becomes a finding about the job,
    and the next job is started."""
    started = time.monotonic()
    found = _Progress()
    state: StepState | None = None
    reason = ""
    try:
        for job in step.plan(context):
            _add(found, job, _outcome(step, job, on_progress))
    except StepSkipped as skipped:
        reason = str(skipped)
        state = "skipped" if not (found.done or found.findings or found.failures) else None
    except KeyboardInterrupt:
        state, reason = "interrupted", "interrupted"
    except Exception as error:  # the plan itself failed, such as by a damaged stored result
        found.failures.append(
            _failed(f"The nightly step `{step.name}` cannot be planned", _as_failure(error), "")
        )
    return StepReport(
        name=step.name,
        title=step.title,
        state=state or _state(found),
        summary=_summary(step, found, reason),
        seconds=time.monotonic() - started,
        findings=tuple(replace(one, step=step.name) for one in (*found.findings, *found.failures)),
        partial=bool(found.skipped or (context.left_out and not step.sample)),
        notes=(*found.notes, *(f"Not checked: {s}." for s in found.skipped), *context.left_out),
    )


def _outcome(step: NightlyStep, job: Job, on_progress: OnProgress) -> JobResult | Failure:
    """Runs a job in a child process and returns its result, or why there is none."""
    on_progress(step.name, job.title)

    def show(update: TaskProgress) -> None:
        if update.text:
            on_progress(step.name, update.text)

    task: Task[JobResult] = start(
        job.function, job.arguments, JobResult, title=job.title, deadline=job.deadline
    )
    try:
        task.watch(show)
        return task.outcome()
    except BaseException:
        task.cancel()
        task.wait()
        raise


def _add(found: _Progress, job: Job, outcome: JobResult | Failure) -> None:
    if isinstance(outcome, Failure):
        title = {"timed_out": "does not finish in time"}.get(outcome.code, "fails")
        found.failures.append(
            _failed(f"The nightly job `{job.title}` {title}", outcome, job.command)
        )
        return
    found.done += outcome.done
    found.findings += outcome.findings
    found.notes += outcome.notes
    found.skipped += outcome.skipped


def _as_failure(error: Exception) -> Failure:
    """Returns an error as a value; an unexpected one with its type."""
    if isinstance(error, GymnastError):
        return error.to_failure()
    return InternalError(f"{type(error).__name__}: {error}").to_failure()


def _failed(title: str, failure: Failure, command: str) -> NightlyFinding:
    observed = f"{failure.at}: {failure.message}" if failure.at else failure.message
    return NightlyFinding(
        title=title,
        observed=f"{observed}\n{failure.fix}".rstrip(),
        command=command,
        todo="Run the command by hand and find out what it waits for, or why it ends. What it would have "
        "checked was not checked in this night.",
    )


def _state(found: _Progress) -> StepState:
    if found.findings:
        return "findings"
    if found.failures:
        return "failed"
    return "passed" if found.done else "skipped"


def _summary(step: NightlyStep, found: _Progress, reason: str) -> str:
    """Returns the result of a step in one sentence."""
    if reason and not found.done:
        return f"not run, because {reason}" if reason != "interrupted" else reason
    parts = [f"{count_noun(found.done, step.noun)} checked"]
    if found.findings:
        parts.append(count_noun(len(found.findings), "finding"))
    if found.failures:
        parts.append(f"{count_noun(len(found.failures), 'job')} could not be completed")
    if found.skipped:
        parts.append(f"{len(found.skipped)} not checked")
    if reason:
        parts.append(reason)
    return ", ".join(parts)
