"""The tool `wait`: waits for runs and reports their progress."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from gymnast import api
from gymnast.jobs.status import LIVE, RunStatus
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import POLL_SECONDS, ToolContext
from gymnast.mcp.problem import Problem, ToolError
from gymnast.mcp.shape import call_text, rounded
from gymnast.mcp.tools import briefs, studies
from gymnast.runs.summary import RunSummary

SECONDS = 45.0
"""How long a call waits by default; some clients end calls after a minute."""
MAX_SECONDS = 600.0
REPORT_SECONDS = 1.0
"""Time between two progress notifications."""


def wait(
    context: ToolContext,
    runs: Sequence[str],
    seconds: Annotated[float, "at most 600"] = SECONDS,
) -> Answer:
    """Waits until these runs, groups or studies end, at most `seconds`, and returns status and score of each.
    Sends progress notifications. Call it again if some still train."""
    if not runs:
        raise ToolError(Problem("usage", "name at least one run", at="wait.runs"))
    if not 0 <= seconds <= MAX_SECONDS:
        problem = f"seconds is {rounded(seconds)}, not between 0 and {MAX_SECONDS:.0f}"
        raise ToolError(
            Problem("usage", problem, at="wait.seconds", fix="call it again for longer")
        )
    deadline, next_report = time.monotonic() + seconds, 0.0
    furthest = 0.0
    statuses = _statuses(context, runs, 0.0)
    while any(status.is_live for status in statuses):
        now = time.monotonic()
        if now >= deadline or context.cancelled.is_set():
            break
        if now >= next_report:
            share, text = _progress(statuses, _summaries(context))
            furthest = max(furthest, share)
            context.report(furthest, 1.0, text)
            next_report = now + REPORT_SECONDS
        left = max(min(POLL_SECONDS, deadline - now), 0.0)
        statuses = _statuses(context, runs, left)
    return _answer(statuses, _summaries(context))


def _statuses(context: ToolContext, refs: Sequence[str], seconds: float) -> list[RunStatus]:
    """Returns the statuses of runs and studies, after `seconds` or when all have ended."""
    found = studies.statuses(context, refs)
    names = {study.id for study in found}
    if len(names) < len(refs):
        others = [ref for ref in refs if ref not in names]
        return [*context.ask(api.wait, others, timeout=seconds), *found]
    if any(study.is_live for study in found):
        time.sleep(seconds)
    return found


def _answer(statuses: Sequence[RunStatus], summaries: dict[str, RunSummary]) -> Answer:
    # The status of a job that failed to resume a run is not that of the run.
    found = {
        one.id: replace(summaries[one.id], status=one.status, reason=one.reason)
        for one in statuses
        if one.id in summaries
    }
    live = [status for status in statuses if status.is_live]
    ended = [status for status in statuses if not status.is_live]
    listed = [
        briefs.run(found[status.id])
        if status.id in found
        else {"id": status.id, "status": status.status, "reason": status.reason}
        for status in statuses
    ]
    summary = f"{len(ended)} of {len(statuses)} runs have ended"
    if len(statuses) == 1 and statuses[0].id in found:
        summary = briefs.status_text(found[statuses[0].id])
    return Answer(
        summary,
        {"ended": len(ended), "training": len(live), "runs": listed},
        listing=Listing("runs", total=len(listed)),
        next=_next([status.id for status in live], ended),
    )


def _next(live: list[str], ended: Sequence[RunStatus]) -> str:
    if live:
        return call_text("wait", runs=live)
    if len(ended) > 1:
        return call_text("compare", runs=[status.id for status in ended])
    if ended[0].path.endswith(f"sweeps/{ended[0].id}"):
        return call_text("runs", run=ended[0].id)
    view = {"view": "log"} if ended[0].status in ("failed", "lost") else {}
    return call_text("diagnose", run=ended[0].id, **view)


def _summaries(context: ToolContext) -> dict[str, RunSummary]:
    """Returns id -> summary of every run; a job that does not train yet has none."""
    return {run.id: run for run in context.ask(api.runs).runs}


def _progress(statuses: Sequence[RunStatus], found: dict[str, RunSummary]) -> tuple[float, str]:
    """Returns the mean share of the budgets that is used, and the state of the first live run as text."""
    shares = [1.0 if not status.is_live else _share(found.get(status.id)) for status in statuses]
    first = next(status for status in statuses if status.is_live)
    run = found.get(first.id)
    if run is None or first.status not in LIVE or not run.clocks:
        return sum(shares) / len(shares), f"{first.id}: {first.status}"
    steps = f"{int(run.clocks.get('env_steps', 0)):,} env steps"
    text = f"{first.id}: {first.status}, {steps}, {briefs.score_text(run)}"
    return sum(shares) / len(shares), text


def _share(run: RunSummary | None) -> float:
    return (run.progress or 0.0) if run is not None else 0.0
