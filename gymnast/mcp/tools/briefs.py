"""Runs, scores and intervals in few words, as all tools show them."""

from __future__ import annotations

from gymnast import api
from gymnast.insight.improvement import MeanInterval
from gymnast.jobs.status import LIVE, JobStatus
from gymnast.mcp.context import ToolContext
from gymnast.mcp.shape import moment, rounded
from gymnast.metrics.score import RunScore
from gymnast.runs.summary import RunSummary

MAX_NOTE = 120


def score(found: RunScore | None) -> dict[str, object] | None:
    """Returns a score with its 95 % interval, and how it was measured."""
    if found is None:
        return None
    brief: dict[str, object] = {"mean": found.mean, "low": found.low, "high": found.high}
    brief |= {"episodes": found.episodes, "role": found.role, "at_step": found.env_steps}
    return brief | {"kind": found.kind, "caveat": found.caveat}


def interval(found: MeanInterval | None) -> dict[str, object] | None:
    return None if found is None else {"mean": found.mean, "low": found.low, "high": found.high}


def run(found: RunSummary) -> dict[str, object]:
    """Returns a run of a list: what it is, how it stands, and how it scored."""
    return {
        "id": found.id,
        "name": found.name,
        "preset": found.preset,
        "seed": found.seed,
        "status": found.status,
        "problem": found.problem,
        "reason": found.reason,
        "score": score(found.score),
        "solved": found.solved,
        "doubts": found.doubts,
        "best": found.best_score,
        "progress": found.progress if found.status in LIVE else None,
        "env_steps": found.clocks.get("env_steps"),
        "alerts": found.n_alerts or None,
        "group": found.group_name or found.group,
        "tags": found.tags,
        "note": found.note[:MAX_NOTE],
        "created": moment(found.created),
    }


def score_text(found: RunSummary) -> str:
    """Returns how a run scored, as a clause."""
    if found.score is not None:
        verdict = f", {found.verdict}" if found.verdict else ""
        doubts = "".join(f", but {doubt}" for doubt in found.doubts)
        caveat = f" ({found.score.caveat})" if found.score.caveat else ""
        return f"score {rounded(found.score.mean)}{caveat}{verdict}{doubts}"
    return "no score yet" if found.best_score is None else f"best {rounded(found.best_score)}"


def status_text(found: RunSummary) -> str:
    """Returns status, reason and score of a run in one line."""
    reason = f" ({found.reason})" if found.reason else ""
    share = (
        f", {found.progress:.0%} of the budget"
        if found.status in LIVE and found.progress is not None
        else ""
    )
    return f"{label(found)}: {found.status}{reason}{share}, {score_text(found)}"


def label(found: RunSummary) -> str:
    """Returns id, name and preset of a run."""
    return " ".join(part for part in (found.id, found.name, found.preset) if part)


def job_named(context: ToolContext, ref: str) -> JobStatus | None:
    """Returns the background job with this id or name, which may not have a run yet; None without one."""
    jobs = context.ask(api.jobs)
    return next((job for job in jobs if ref and ref in (job.id, job.name)), None)
