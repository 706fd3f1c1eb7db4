"""Studies as text: the plan before the start, progress, the table of trials, the winner."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.sweep.record import (
        BestTrial,
        Confirmation,
        SweepImportance,
        SweepPlan,
        SweepProgress,
        SweepStatus,
        SweepSummary,
        TrialRecord,
    )

SHOWN = 15
"""Number of trials in the table, the best first."""


def plan_lines(plan: SweepPlan) -> Iterator[str]:
    """Yields what a search will do and take."""
    size = "" if plan.assignments is None else f", {plan.assignments:,} assignments"
    yield f"{plan.target}: {formatting.count_noun(plan.trials, 'trial')} with the baseline"
    count = formatting.count_noun(len(plan.parameters), "parameter")
    yield f"  space     {count}{size}: {', '.join(plan.parameters)}"
    *rungs, whole = (f"{steps:,}" for steps in plan.rungs)
    if rungs:
        yield f"  rungs     {' -> '.join([*rungs, whole])} env steps; the best third continues"
    else:
        yield f"  runs      {whole} env steps each"
    confirm = (
        f", and {plan.confirm_env_steps:,} to confirm the best" if plan.confirm_env_steps else ""
    )
    yield f"  work      about {plan.env_steps:,} env steps{confirm}"
    yield (
        f"  time      about {formatting.duration(60 * plan.minutes)} with "
        f"{formatting.count_noun(plan.jobs, 'job')}, without evaluations"
    )
    yield f"  disk      up to {formatting.size(plan.bytes)}, {formatting.size(plan.free_bytes)} free"
    yield from (f"  warning: {text}" for text in plan.warnings)


def echo_progress(progress: SweepProgress) -> None:
    """Prints the progress of a study, in a terminal over the line before."""
    text = progress_text(progress.summary)
    if progress.confirm_total:
        text = (
            f"confirming on fresh seeds: {progress.confirm_done} of {progress.confirm_total} runs"
        )
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{text}", err=True, nl=False)
    else:
        click.echo(text, err=True)


def end_progress() -> None:
    """Ends the line of a terminal."""
    if sys.stderr.isatty():
        click.echo("", err=True)


def progress_text(summary: SweepSummary) -> str:
    """Returns the state of a search in one line."""
    share = min(summary.env_steps / max(summary.planned_env_steps, 1), 1.0)
    left = summary.seconds * (1 - share) / share if 0.02 < share < 1 else None
    best = (
        ""
        if summary.best is None
        else f", best {_value(summary.best_value)} (trial {summary.best})"
    )
    base = "" if summary.baseline_value is None else f", baseline {_value(summary.baseline_value)}"
    time = "" if left is None or summary.reason else f", about {formatting.duration(left)} left"
    return (
        f"trial {summary.trials} of {summary.planned_trials}, "
        f"{formatting.count(summary.env_steps)} env steps{best}{base}{time}"
    )


def status_lines(status: SweepStatus) -> Iterator[str]:
    """Yields the page of a study: its state, and its best trials."""
    summary = status.summary
    reason = f": {summary.reason}" if summary.reason else ""
    yield f"study {summary.name}  {summary.target}  {summary.status}{reason}"
    yield (
        f"  {summary.mode} with {summary.sampler}, objective {status.objective}, "
        f"{summary.units} units done, {summary.running_units} running, "
        f"{formatting.duration(summary.seconds)}"
    )
    if summary.problem:
        yield f"  {summary.problem}"
    yield f"  {progress_text(summary)}\n"
    trials = sorted(status.trials, key=lambda trial: trial.rank)
    yield formatting.table(
        ("rank", "trial", "value", "±", "seeds", "rung", "env steps", "state", "changes"),
        [_row(trial, len(status.rungs)) for trial in trials[:SHOWN]],
        right="rank trial value ± seeds steps",
    )
    if len(trials) > SHOWN:
        yield f"... and {len(trials) - SHOWN} more (--json has all)"
    failed = [trial for trial in trials if trial.state == "failed"]
    for trial in failed[:3]:
        yield f"trial {trial.number} failed: {trial.problem.splitlines()[0] if trial.problem else ''}"


def best_lines(best: BestTrial) -> Iterator[str]:
    """Yields the winner of a study, with its evidence."""
    trial = best.trial
    title = "the baseline" if trial.is_baseline else f"trial {trial.number}"
    seeds = formatting.count_noun(len(trial.seeds), "seed")
    yield f"{best.study}: {title}, {_value(trial.value)} on {seeds} of the search"
    yield f"  cost      {best.env_steps:,} env steps, {formatting.duration(best.seconds)}"
    if best.confirmation is None:
        yield f"  {best.unconfirmed}"
    else:
        yield from confirmation_lines(best.confirmation)
    if trial.is_baseline:
        return
    yield f"\ntrain with it:\n{best.command}"
    yield f"\nas a variant of a preset:\n\n{best.patch.rstrip()}"


def confirmation_lines(confirmation: Confirmation) -> Iterator[str]:
    """Yields what the confirmation has shown."""
    yield f"  confirmed {confirmation.verdict}"
    for one in confirmation.trials:
        name = "baseline" if one.is_baseline else f"trial {one.trial}"
        low, high = one.value.low, one.value.high
        interval = "" if low is None or high is None else f" [{_value(low)}, {_value(high)}]"
        score = "" if one.score is None else f", score {_value(one.score.mean)}"
        yield f"    {name:<10} {_value(one.value.mean)}{interval}{score} on {len(one.values)} seeds"
    yield f"    {confirmation.env_steps:,} env steps"
    if confirmation.shortened:
        yield f"    {confirmation.shortened}"


def importance_lines(found: SweepImportance) -> Iterator[str]:
    """Yields how much each parameter matters."""
    yield f"{found.study}: importance from {formatting.count_noun(found.trials, 'trial')}\n"
    rows = [
        (one.name, f"{one.importance:.2f}", f"[{one.low:.2f}, {one.high:.2f}]")
        for one in found.parameters
    ]
    yield formatting.table(("parameter", "importance", "95 % interval"), rows, right="importance")
    if found.caution:
        yield f"\ncaution: {found.caution}"


def list_table(found: list[SweepSummary]) -> str:
    """Returns the table of all studies."""
    head = ("study", "target", "status", "trials", "env steps", "best", "baseline", "time")
    rows = [
        (
            one.name,
            one.target,
            one.status,
            f"{one.trials}/{one.planned_trials}",
            formatting.count(one.env_steps),
            _value(one.best_value),
            _value(one.baseline_value),
            formatting.duration(one.seconds),
        )
        for one in found
    ]
    return formatting.table(head, rows, right="trials steps best baseline time")


def _row(trial: TrialRecord, n_rungs: int) -> tuple[str, ...]:
    changes = "baseline" if trial.is_baseline else _changes(trial)
    return (
        str(trial.rank),
        str(trial.number),
        _value(trial.value),
        f"{trial.spread:.3g}" if trial.spread else "",
        str(len(trial.seeds)),
        f"{trial.rung}/{n_rungs}",
        formatting.count(trial.env_steps),
        trial.state,
        changes,
    )


def _changes(trial: TrialRecord) -> str:
    parts = [f"{key.rpartition('.')[2]}={value}" for key, value in trial.overrides.items()]
    return " ".join(parts)


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
