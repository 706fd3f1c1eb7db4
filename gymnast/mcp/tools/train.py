"""The tool `train`: starts trainings, and resumes runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from gymnast import api
from gymnast.jobs.detach import StartedRun
from gymnast.mcp.answer import Answer
from gymnast.mcp.context import ToolContext
from gymnast.mcp.limits import MINUTES, limited_resume, limited_start, refuse_long_queue
from gymnast.mcp.problem import Problem, ToolError
from gymnast.mcp.shape import call_text, rounded
from gymnast.mcp.tools import studies
from gymnast.runs.details import RunDetails

TAG = "assistant"
"""Tag of every run that an assistant started."""


def train(
    context: ToolContext,
    target: Annotated[str, "ENV[:variant], to start"] = "",
    resume: Annotated[str, "a run, to continue"] = "",
    overrides: Annotated[
        Mapping[str, object] | None, '{"algo.lr": 3e-4, "stop.env_steps": "50k"}'
    ] = None,
    algo: str = "",
    seed: int | None = None,
    seeds: Annotated[int | None, "train a group of so many"] = None,
    source: Annotated[str, "RUN[:CHECKPOINT] with initial weights"] = "",
    at: Annotated[
        str, "checkpoint to resume from: best, latest or steps; an earlier one branches"
    ] = "",
    fresh_optimizer: bool = False,
    name: str = "",
    search: Annotated[
        str, "`default` or a space in YAML: a study that searches hyperparameters"
    ] = "",
    trials: Annotated[int | None, "of a search"] = None,
) -> Answer:
    """Starts or resumes training in the background and returns the run ids at once. Validates everything
    first. To change settings of a finished run, resume it with a larger stop.* budget or start anew."""
    if bool(target) == bool(resume):
        problem = "pass either `target` (to start) or `resume` (to continue a run)"
        raise ToolError(Problem("usage", problem, at="train"))
    chosen = overrides or {}
    if search:
        more = {"trials": trials, "source": source, "name": name}
        return studies.start(context, target, search, chosen, **more)
    if resume and (study := studies.find(context, resume)):
        return studies.resume(context, study)
    if resume:
        return _resume(context, resume, at or "latest", chosen, fresh_optimizer, name)
    refuse_long_queue(context, seeds or 1)
    limited = limited_start(context, target, chosen, algo or None)
    started = context.ask(
        api.start,
        target,
        overrides=limited,
        algo=algo or None,
        seed=seed,
        seeds=seeds,
        source=source or None,
        name=name,
        tags=[TAG],
        max_jobs=context.options.max_jobs,
    )
    ids = [run.id for run in started.runs]
    what = f"group {started.group} of {len(ids)} runs" if started.group else ids[0]
    content: dict[str, object] = {
        "started": len(ids),
        "group": started.group,
        "runs": [_brief(run) for run in started.runs],
        "minutes_limit": limited.get(MINUTES),
    }
    refs = [started.group] if started.group else ids
    return Answer(f"started {what} on {target}", content, next=call_text("wait", runs=refs))


def _resume(
    context: ToolContext,
    ref: str,
    at: str,
    overrides: Mapping[str, object],
    fresh_optimizer: bool,
    name: str,
) -> Answer:
    """Continues a run in place from its newest checkpoint, or branches off from an earlier one."""
    run = context.ask(api.show, ref if at == "latest" or ":" in ref else f"{ref}:{at}")
    branches = _branches(run)
    if name and not branches:
        problem = f"{run.id} continues under its own name, because it is resumed from its newest checkpoint"
        fix = "leave `name` out, or name an earlier checkpoint with `at` to branch off"
        raise ToolError(Problem("usage", problem, at="train.name", fix=fix))
    refuse_long_queue(context, 1)
    limited = limited_resume(context, run, _seconds_used(context, run), overrides)
    started = context.ask(
        api.resume,
        ref,
        at=at,
        overrides=limited,
        fresh_optimizer=fresh_optimizer,
        name=name,
        tags=[TAG] if branches else [],  # a run that is continued keeps its name and its tags
        max_jobs=context.options.max_jobs,
    )
    if not branches:
        context.ask(api.tag, run.id, [TAG])
    how = f"branched off from {run.id} as" if branches else "resumed"
    content: dict[str, object] = {
        "started": 1,
        "runs": [_brief(started)],
        "parent": run.id if branches else None,
        "minutes_limit": limited.get(MINUTES),
    }
    summary = f"{how} {started.id} ({rounded(run.clocks.get('env_steps', 0))} env steps so far)"
    return Answer(summary, content, next=call_text("wait", runs=[started.id]))


def _seconds_used(context: ToolContext, run: RunDetails) -> float:
    """Returns the wall time of a run up to the checkpoint that was asked for, by default the newest."""
    total = run.clocks.get("seconds", 0.0)
    if run.checkpoint is None or not _branches(run):
        return total
    page = context.ask(api.rows, run.id, ["clock/seconds"], around=run.checkpoint.step, limit=1)
    return min((row["clock/seconds"] for row in page.rows), default=total)


def _branches(run: RunDetails) -> bool:
    """Returns whether a new run branches off: from an earlier checkpoint than the newest."""
    return run.checkpoint is not None and run.checkpoint.step < (run.latest_step or 0)


def _brief(run: StartedRun) -> dict[str, object]:
    return {"id": run.id, "status": run.status, "name": run.name, "seed": run.seed}
