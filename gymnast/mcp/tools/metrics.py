"""The tool `metrics`: trends, curves and rows of the numbers of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from gymnast import api
from gymnast.clock import ClockName
from gymnast.insight.trends import MetricTrend
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import Problem, ToolError
from gymnast.mcp.shape import call_text, fields, table
from gymnast.mcp.tool import Detail

View = Literal["trends", "curve", "rows"]
POINTS = 12
ROWS = 8
CLOCK = "clock/env_steps"
FULL_TREND = (
    *(
        "text",
        "better",
        "points",
        "first",
        "last",
        "lowest",
        "highest",
        "overall",
        "recent",
        "slope",
    ),
    *("jump", "collapse", "healthy"),
)


def metrics(
    context: ToolContext,
    runs: Sequence[str],
    names: Annotated[Sequence[str], "metrics; a * at the end matches any suffix"] = (),
    view: View = "trends",
    around: Annotated[int | None, "rows around this env step"] = None,
    points: Annotated[int | None, "per curve"] = None,
    x: ClockName | None = None,
    cursor: str = "",
    detail: Detail = "brief",
) -> Answer:
    """Numbers over training. trends: per metric first, last, best, largest sudden change and its step, and
    whether it got better or worse; curve: downsampled (mean, low, high); rows: as recorded, the latest or
    `around` a step."""
    if not runs:
        raise ToolError(Problem("usage", "name at least one run", at="metrics.runs"))
    if around is not None or view == "rows":
        return _rows(context, runs, names, around, points or ROWS, cursor)
    if view == "curve":
        return _curves(context, runs, names, points or POINTS, x or "")
    return _trends(context, runs, names, detail, x or "")


def _trends(
    context: ToolContext, runs: Sequence[str], names: Sequence[str], detail: Detail, x: str
) -> Answer:
    """Returns how metrics of one run developed."""
    if len(runs) != 1:
        problem = f"trends are of one run, and {len(runs)} are named"
        fix = f"{call_text('compare', runs=list(runs))}, or one call per run"
        raise ToolError(Problem("usage", problem, at="metrics.runs", fix=fix))
    found = context.ask(api.trends, runs[0], list(names), x=x)
    full = detail == "full"
    listed = [_trend(one, full=full) for one in found.trends]
    worse = [one.key for one in found.trends if one.recent.verdict == "worse"]
    shown = (worse or [one.key for one in found.trends] or [""])[0]
    fallen = [(one.key, one.collapse.at) for one in found.trends if one.collapse]
    text = f"; recently worse: {', '.join(worse[:3])}" if worse else ""
    if fallen:
        text = f"; collapsed: {', '.join(f'{key} at {at:,.0f}' for key, at in fallen[:3])}"
    return Answer(
        f"{found.run}: {len(listed)} of {found.total} metrics{text}",
        {
            "total": len(listed),
            "recorded": found.total,
            "run": found.run,
            "x": found.x,
            "trends": listed,
        },
        listing=Listing("trends", total=len(listed)),
        left_out=() if names else (f"{found.total - len(listed)} other metrics (name them)",),
        next=call_text("metrics", runs=[found.run], names=[shown], view="curve") if shown else "",
    )


def _trend(trend: MetricTrend, *, full: bool) -> dict[str, object]:
    """Returns one metric: its verdicts, its ends and extremes, and its sudden changes."""
    if full:
        return {"metric": trend.key, **fields(trend, FULL_TREND)}
    sudden = trend.collapse or (trend.jump if trend.jump and trend.jump.exceeds_noise else None)
    return {
        "metric": trend.key,
        "better": trend.better,
        "overall": trend.overall.verdict,
        "recent": trend.recent.verdict,
        "first": trend.first.value,
        "last": trend.last.value,
        "lowest": [trend.lowest.value, trend.lowest.at],
        "highest": [trend.highest.value, trend.highest.at],
        "collapse" if trend.collapse else "jump": fields(
            sudden, ("at", "before", "after", "lasted")
        )
        if sudden
        else None,
        "healthy": trend.healthy,
    }


def _curves(
    context: ToolContext, runs: Sequence[str], names: Sequence[str], points: int, x: str
) -> Answer:
    """Returns metrics of runs, each with a limited number of points."""
    if not names:
        problem = "name the metrics of the curves"
        fix = call_text("metrics", runs=list(runs), view="trends")
        raise ToolError(Problem("usage", problem, at="metrics.names", fix=fix))
    found = context.ask(api.curves, list(runs), list(names), x=x, points=points)
    series = [
        {
            "run": one.run,
            "metric": one.key,
            "rows": one.total,
            "x": one.x,
            "mean": one.mean,
            "low": one.low if one.low != one.mean else None,
            "high": one.high if one.high != one.mean else None,
        }
        for one in found.series
    ]
    problems = [f"{one.run}: {one.problem}" for one in found.runs if one.problem]
    reduced = any(one.total > len(one.x) for one in found.series)
    return Answer(
        f"{len(series)} curves over {found.x}, at most {points} points each",
        {"total": len(series), "x": found.x, "series": series, "problems": problems},
        listing=Listing("series", total=len(series)),
        left_out=("rows between the points; low and high are the extremes of each bucket",)
        if reduced
        else (),
        next=call_text("chart", runs=list(runs), names=list(names)),
    )


def _rows(
    context: ToolContext,
    runs: Sequence[str],
    names: Sequence[str],
    around: int | None,
    limit: int,
    cursor: str,
) -> Answer:
    """Returns rows of one run as a table."""
    if len(runs) != 1:
        problem = f"rows are of one run, and {len(runs)} are named"
        raise ToolError(Problem("usage", problem, at="metrics.runs", fix="use view=curve"))
    run, chosen = runs[0], list(names)
    if around is not None:
        page = context.ask(api.rows, run, chosen, around=around, limit=limit)
    elif cursor:
        if not cursor.isdecimal():
            fix = "pass the one of an earlier answer"
            raise ToolError(Problem("usage", f"{cursor!r} is not a cursor", at="metrics", fix=fix))
        page = context.ask(api.rows, run, chosen, after=int(cursor), limit=limit)
    else:
        page = context.ask(api.rows, run, chosen, last=limit)
    rows = [
        {
            key.removeprefix("clock/"): value
            for key, value in row.items()
            if key == CLOCK or not key.startswith("clock/")
        }
        for row in page.rows
    ]
    listed = table(rows)
    where = f" around {around:,} env steps" if around is not None else ""
    steps = [row["env_steps"] for row in rows if "env_steps" in row]
    span = f", steps {steps[0]:,.0f} to {steps[-1]:,.0f}" if steps else ""
    return Answer(
        f"{page.run}: {len(rows)} rows{where}{span}",
        {
            "total": len(rows),
            "run": page.run,
            "columns": listed["columns"],
            "rows": listed["rows"],
        },
        # Positions of rows are known for the last one only: rows that do not fit have no cursor.
        listing=Listing(
            "rows",
            cursor_after=lambda n: str(page.cursor) if n == len(rows) else "",
            has_more=page.has_more,
        ),
        next=call_text("metrics", runs=[page.run], names=chosen, view="curve")
        if names
        else call_text("metrics", runs=[page.run]),
    )
