"""The tool `runs`: finding runs, and the summary of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from gymnast import api
from gymnast.jobs.groups import GroupResult
from gymnast.jobs.status import LIVE
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import ToolError
from gymnast.mcp.shape import call_text, table
from gymnast.mcp.tool import Detail
from gymnast.mcp.tools import briefs, studies
from gymnast.runs.details import EvaluationPoint, RunDetails

PAGE = 8
"""Runs of an answer, unless more are asked for."""
SHOWN_EVALUATIONS = 10


def runs(
    context: ToolContext,
    run: str = "",
    filter: Annotated[
        str,
        "words; or FIELD=VALUE (env, algo, status, tag, group, solved), score>400, env_steps<1e6",
    ] = "",
    limit: int | None = None,
    cursor: str = "",
    detail: Detail = "brief",
) -> Answer:
    """Lists runs, newest first. With `run` (id, name, @last, @best:ENV): its status, score, evaluations,
    checkpoints, alerts and changed settings, the scores of a group of seeds, or the trials of a study."""
    if run:
        return _one(context, run, detail)
    page = context.ask(api.runs, filter, after=cursor or None, limit=limit or PAGE)
    newest = page.runs[0] if page.runs else None
    what = f" match {filter!r}" if filter else ""
    shown = f"; newest: {briefs.status_text(newest)}" if newest and not cursor else ""
    return Answer(
        f"{page.total} runs{what}{shown}",
        {"total": page.total, "runs": [briefs.run(found) for found in page.runs]},
        listing=Listing(
            "runs",
            total=None if cursor else page.total,
            cursor_after=lambda n: f"{page.runs[n - 1].created!r}/{page.runs[n - 1].id}",
            has_more=page.cursor is not None,
        ),
        next=call_text("runs", run=newest.id)
        if newest
        else call_text("find", query="CartPole", kind="preset"),
    )


def _one(context: ToolContext, ref: str, detail: Detail) -> Answer:
    """Returns the summary of a run, a group of seeds, or a job that has no run yet."""
    try:
        found = context.ask(api.show, ref)
    except ToolError as error:
        job = briefs.job_named(context, ref)
        if job is not None:
            brief = {"id": job.id, "status": job.status, "reason": job.reason or job.words}
            summary = f"{job.id} {job.target}: {job.status}"
            return Answer(
                summary, {"total": 1, "run": brief}, next=call_text("wait", runs=[job.id])
            )
        if study := studies.find(context, ref):
            return studies.show(context, study)
        try:
            return _group(ref, context.ask(api.group, ref))
        except ToolError:
            raise error from None
    content = {"total": 1, "run": _details(found, full=detail == "full")}
    return Answer(briefs.status_text(found), content, next=_next(found))


def _details(found: RunDetails, *, full: bool) -> dict[str, object]:
    """Returns one run with everything that an assistant asks first. `full`: all evaluations and settings."""
    checkpoints = found.checkpoints
    points = found.evaluations if full else _spread(found.evaluations)
    learning = found.learning
    return briefs.run(found) | {
        "threshold": found.threshold,
        "start_score": briefs.score(found.start_score),
        "clocks": {
            name: value
            for name, value in found.clocks.items()
            if name in ("env_steps", "updates", "seconds", "episodes")
        },
        "steps_to_threshold": learning.steps_to_threshold if learning else None,
        "minutes_left": found.remaining_seconds / 60 if found.remaining_seconds else None,
        "parent": found.parent,
        "parent_kind": found.parent_kind,
        "changed_settings": _changed(found),
        "live_changes": found.live,
        "checkpoints": {
            "best": checkpoints.best.step if checkpoints.best else None,
            "latest": checkpoints.latest.step if checkpoints.latest else None,
            "steps": checkpoints.steps if full else None,
            "count": len(checkpoints.steps),
            "damaged": len(checkpoints.damaged) or None,
        },
        "alerts": [f"{one.id}{'' if one.active else ' (past)'}" for one in found.alerts],
        "evaluations": {
            "count": len(found.evaluations),
            **table(
                {"step": int(p.env_steps), "return": p.mean_return, "low": p.low} for p in points
            ),
        },
        "config": found.config if full else None,
    }


def _changed(found: RunDetails) -> dict[str, object]:
    """Returns the settings that were chosen for this run (--set and the like): dotted key -> value."""
    return {
        key: _setting(found.config, key)
        for key, origin in found.provenance.items()
        if origin.startswith("--") and key != "seed"
    }


def _setting(config: Mapping[str, object], key: str) -> object:
    """Returns the value of a dotted key; None if there is none."""
    value: object = config
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return value  # pyright: ignore[reportUnknownVariableType]


def _spread(points: list[EvaluationPoint]) -> list[EvaluationPoint]:
    """Returns at most ten evaluations, evenly spread; the first, the best and the last are among them."""
    if len(points) <= SHOWN_EVALUATIONS:
        return points
    last = len(points) - 1
    kept = {round(i * last / (SHOWN_EVALUATIONS - 2)) for i in range(SHOWN_EVALUATIONS - 1)}
    kept.add(max(range(len(points)), key=lambda i: points[i].mean_return))
    return [points[i] for i in sorted(kept)]


def _group(ref: str, found: GroupResult) -> Answer:
    """Returns the scores of a group of seeds."""
    content = {
        "total": found.runs,
        "group": {
            "scored": found.scored,
            "solved": found.solved,
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
            "iqm": found.iqm,
            "caveat": found.caveat,
            "runs": [
                {"id": one.id, "seed": one.seed, "status": one.status}
                | {"score": briefs.score(one.score)}
                for one in found.scores
            ],
        },
    }
    summary = f"group {ref}: {found.runs} runs, {found.scored} scored, {found.solved} solved"
    return Answer(summary, content, next=call_text("compare", runs=[ref]))


def _next(found: RunDetails) -> str:
    if found.status in LIVE:
        return call_text("wait", runs=[found.id])
    return call_text("diagnose", run=found.id)
