"""The tool `compare`: which run or group of seeds is better, and by more than noise."""

from __future__ import annotations

from collections.abc import Sequence

from gymnast import api
from gymnast.clock import ClockName
from gymnast.insight.compare import ComparedGroup, ComparedRun, Comparison
from gymnast.insight.improvement import Improvement
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.shape import call_text, fields, rounded
from gymnast.mcp.tool import Detail
from gymnast.mcp.tools import briefs


def compare(
    context: ToolContext,
    runs: Sequence[str],
    x: ClockName | None = None,
    detail: Detail = "brief",
) -> Answer:
    """Compares runs, groups of seeds, or seeds joined by + (a+b): scores with 95 % intervals, whether the
    difference exceeds the noise, and the settings that differ."""
    found = context.ask(api.compare, list(runs), x=x or "")
    sides = (
        [_group(one) for one in found.groups] if found.groups else [_run(one) for one in found.runs]
    )
    verdicts = [_verdict(one, full=detail == "full") for one in found.improvements]
    content = {
        "sides": len(sides),
        "verdicts": verdicts,
        "scores": sides,
        "differing_settings": len(found.config),
        "settings": {one.key: one.values for one in found.config},
        "config_problem": found.config_problem,
        "unknown_settings": found.config_unknown,
        "curves": _curves(found) if detail == "full" else None,
    }
    return Answer(
        _summary(found),
        content,
        listing=Listing("verdicts", total=len(verdicts)),
        next=_next(found, list(runs)),
    )


def _run(run: ComparedRun) -> dict[str, object]:
    names = ("id", "name", "preset", "seed", "status", "solved", "best", "area")
    return fields(run, names) | {
        "score": briefs.score(run.score),
        "latest_eval": run.final if run.score is None else None,
        "steps_to_threshold": run.learning.steps_to_threshold if run.learning else None,
        "env_steps": run.clocks.get("env_steps"),
    }


def _group(group: ComparedGroup) -> dict[str, object]:
    names = ("name", "preset", "runs", "scored", "solved", "reached")
    measures = ("score", "iqm", "best", "area", "steps_to_threshold")
    return (
        fields(group, names)
        | {"provisional": group.provisional or None}
        | {name: briefs.interval(getattr(group, name)) for name in measures}
    )


def _verdict(pair: Improvement, *, full: bool) -> dict[str, object]:
    """Returns the comparison of two sides."""
    names = ("a", "b", "better", "exceeds_noise", "probability", "problem", "caution")
    verdict = fields(pair, names) | {"difference": briefs.interval(pair.difference)}
    measures = [
        fields(one, ("measure", "better", "exceeds_noise"))
        | {"difference": briefs.interval(one.difference)}
        for one in pair.measures
    ]
    return verdict | ({"measures": measures} if full else {})


def _summary(found: Comparison) -> str:
    if not found.improvements:
        return f"{len(found.runs)} runs; there is nothing to compare yet"
    pair = found.improvements[0]
    noise = {True: "more than noise", False: "within the noise", None: pair.problem}[
        pair.exceeds_noise
    ]
    lead = f"{pair.better} is better than" if pair.better else "no difference between"
    names = (
        (pair.b if pair.better == pair.a else pair.a) if pair.better else f"{pair.a} and {pair.b}"
    )
    size = f" by {rounded(abs(pair.difference.mean))}" if pair.better and pair.difference else ""
    return f"{lead} {names}{size} ({noise}); {_settings(found)}"


def _settings(found: Comparison) -> str:
    if found.config_problem:
        return "the settings cannot be compared"
    unknown = f", {len(found.config_unknown)} are unknown" if found.config_unknown else ""
    return f"{len(found.config)} settings differ{unknown}"


def _next(found: Comparison, runs: list[str]) -> str:
    undecided = [one for one in found.improvements if one.exceeds_noise is None]
    if undecided and found.runs and not found.groups:
        return call_text("train", target=found.runs[0].preset, seeds=5)
    return call_text("chart", runs=runs)


def _curves(found: Comparison) -> dict[str, object]:
    """Returns the evaluation curve of each run."""
    return {run.id: {"x": run.curve.x, "return": run.curve.y} for run in found.runs}
