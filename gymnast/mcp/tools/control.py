"""The tool `control`: commands to a run, its labels, and its deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from gymnast import api
from gymnast.api.housekeeping import RunLabels
from gymnast.errors import RunError
from gymnast.evaluation.record import EvaluationReport
from gymnast.jobs.commands import CommandAnswer
from gymnast.jobs.status import LIVE
from gymnast.mcp.answer import Answer
from gymnast.mcp.context import ToolContext
from gymnast.mcp.limits import limited_change
from gymnast.mcp.problem import Problem, ToolError
from gymnast.mcp.shape import call_text, fields, rounded
from gymnast.mcp.tools import briefs, studies

Action = Literal[
    "stop", "pause", "unpause", "checkpoint", "evaluate", "set", "tag", "untag", "note", "remove"
]
TIMEOUT = 30.0
"""Seconds to wait for the answer of a run."""


def control(
    context: ToolContext,
    run: str,
    action: Action,
    settings: Annotated[Mapping[str, object] | None, "for set"] = None,
    tags: Sequence[str] = (),
    text: Annotated[str, "for note"] = "",
    episodes: Annotated[int | None, "for evaluate"] = None,
    confirm: Annotated[bool, "needed to remove a run or replace a note"] = False,
) -> Answer:
    """Controls a run: stop (a study, too; saves checkpoints; resumable), pause, unpause, checkpoint, set
    (change settings while it trains), evaluate (the live policy, or RUN[:CHECKPOINT] on held-out seeds), tag,
    untag, note, remove (deletes it for good)."""
    if action in ("tag", "untag", "note"):
        return _label(context, run, action, tags, text, confirm)
    if action == "remove":
        return _remove(context, run, confirm)
    if action == "evaluate" and not _is_live(context, run):
        report = context.run_task(api.eval, run, episodes=episodes)
        return _evaluated(run, report)
    if action == "set":
        if not settings:
            fix = 'pass e.g. settings={"algo.lr": 1e-4}'
            raise ToolError(
                Problem("usage", "there is nothing to set", at="control.settings", fix=fix)
            )
        limited = limited_change(context, context.ask(api.show, run), settings)
        return _answered([context.ask(api.set_live, run, limited, timeout=TIMEOUT)])
    if action == "stop":
        if study := studies.find(context, run):
            return studies.stop(context, study)
        return _answered(context.ask(api.stop, run, timeout=TIMEOUT))
    function = {
        "pause": api.pause,
        "unpause": api.unpause,
        "checkpoint": api.checkpoint,
        "evaluate": api.evaluate_live,
    }[action]
    return _answered([context.ask(function, run, timeout=TIMEOUT)])


def _answered(answers: Sequence[CommandAnswer]) -> Answer:
    """Returns the answers of runs to a command."""
    if not answers:
        raise ToolError(Problem("run", "no run of this group is active", fix=call_text("runs")))
    first = answers[0]
    content = {
        "done": all(answer.answered for answer in answers),
        "runs": [
            fields(one, ("id", "command", "status", "answered", "env_steps", "changes"))
            | {"score": briefs.score(one.score)}
            for one in answers
        ],
    }
    how = "" if first.answered else "; it takes effect at the next rollout boundary"
    summary = f"{first.command} {first.id}: {first.status}{how}"
    live = [one.id for one in answers if one.status in LIVE]
    follow = call_text("wait", runs=live) if live else call_text("runs", run=first.id)
    return Answer(summary, content, next=follow)


def _label(
    context: ToolContext, run: str, action: Action, tags: Sequence[str], text: str, confirm: bool
) -> Answer:
    """Adds or removes tags, or sets the note. A note that exists is replaced only if confirmed."""
    if action == "note":
        before = context.ask(api.note, run).note
        if before and before != text.strip() and not confirm:
            return _unconfirmed(f"the present note would be lost: {before!r}", {"note": before})
        return _labels(context.ask(api.note, run, text))
    if not tags:
        raise ToolError(Problem("usage", "name at least one tag", at="control.tags"))
    return _labels(context.ask(api.tag, run, list(tags), remove=action == "untag"))


def _labels(found: RunLabels) -> Answer:
    content = {"done": True, "runs": [{"id": found.id, "tags": found.tags, "note": found.note}]}
    return Answer(f"{found.id}: tags {', '.join(found.tags) or 'none'}", content)


def _remove(context: ToolContext, run: str, confirm: bool) -> Answer:
    """Deletes a run; without `confirm`, only says what would be lost."""
    plan = context.ask(api.remove, [run], dry_run=True)
    names = ("id", "name", "preset", "status", "bytes", "children", "foreign_files")
    lost = [fields(one, names) for one in plan.runs]
    size = f"{plan.bytes / 1e6:.1f} MB"
    if not confirm:
        what = f"{len(lost)} run with {size} would be deleted for good"
        return _unconfirmed(what, {"runs": lost, "bytes": plan.bytes})
    done = context.ask(api.remove, [run])
    content = {"done": done.deleted, "runs": lost, "bytes": done.bytes}
    return Answer(f"deleted {run} ({size})", content, next=call_text("runs"))


def _unconfirmed(what: str, content: Mapping[str, object]) -> Answer:
    fix = "if the user wants that, call again with confirm=true"
    return Answer(
        f"not done: {what}; {fix}", {"done": False, "would_be_lost": what, **content, "fix": fix}
    )


def _is_live(context: ToolContext, ref: str) -> bool:
    """Returns whether a run trains; False for a checkpoint, which is evaluated as it is."""
    if ":" in ref.removeprefix("@best:"):
        return False
    try:
        return context.ask(api.show, ref).status in LIVE
    except ToolError as error:
        if error.problem.code == RunError.code and briefs.job_named(context, ref):
            return True
        raise


def _evaluated(ref: str, report: EvaluationReport) -> Answer:
    """Returns the score of a checkpoint on held-out seeds."""
    score = report.score
    if score is None:
        content: dict[str, object] = {
            "done": True,
            "runs": [
                fields(one, ("run", "checkpoint", "episodes", "roles", "numbers", "missing"))
                for one in report.matches
            ],
        }
        return Answer(f"{ref}: {len(report.matches)} casts played", content)
    names = ("run", "checkpoint", "mean", "low", "high", "iqm", "episodes", "missing", "sound")
    content = {"done": True, "runs": [fields(score, names)]}
    text = f"{ref} at {score.checkpoint:,} env steps: {rounded(score.mean)} over {score.episodes} episodes"
    return Answer(text, content)
