"""The tool `diagnose`: what went wrong with a run, on what evidence, and what to change."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from gymnast import api
from gymnast.errors import UsageError
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.shape import call_text, fields, moment

View = Literal["summary", "alerts", "events", "log"]
EVENTS = 20
LINES = 25
START = "start"
"""The cursor that names the first line of a log."""
PAGE_BYTES, MORE_BYTES = 2500, 24_000
"""Size of a part of the log, which fits into an answer."""


def diagnose(
    context: ToolContext,
    run: str,
    view: View = "summary",
    limit: int | None = None,
    cursor: str = "",
) -> Answer:
    """Says why a run did or did not learn: outcome, likely causes with evidence, and the settings to change
    (`patch`). Other views: alerts; events (what changed the run, newest first); log (its last lines)."""
    if view == "alerts":
        return _alerts(context, run)
    if view == "events":
        return _events(context, run, limit or EVENTS, cursor)
    if view == "log":
        return _log(context, run, limit or LINES, cursor)
    found = context.ask(api.doctor, run)
    causes = [
        {
            "cause": one.cause,
            "weight": one.weight,
            "evidence": one.evidence,
            "changes": one.changes,
            "lasting": None if one.lasting else False,
        }
        for one in found.findings
    ]
    health = {True: "healthy", False: "not healthy", None: "too early to say"}[found.healthy]
    # What a healthy run has recovered from is not a cause of anything.
    lead = (
        f"; likeliest cause: {found.findings[0].cause}"
        if found.findings and not found.healthy
        else ""
    )
    content = {
        "run": found.run,
        "outcome": found.outcome.kind,
        "text": found.outcome.text,
        "healthy": found.healthy,
        "patch": found.changes,
        "n_causes": len(causes),
        "causes": causes,
        "unusual": found.unusual,
        "notes": found.notes,
    }
    follow = (
        call_text("train", target=found.preset, overrides=dict(found.changes))
        if found.changes
        else call_text("metrics", runs=[found.run])
    )
    summary = f"{found.run}: {found.outcome.kind}, {found.outcome.text}; {health}{lead}"
    return Answer(summary, content, next=follow)


def _alerts(context: ToolContext, run: str) -> Answer:
    found = context.ask(api.show, run)
    alerts = sorted(
        found.alerts, key=lambda one: (not one.active, one.level != "error", -one.count)
    )
    active = sum(one.active for one in alerts)
    names = ("id", "level", "active", "message", "advice", "first", "last", "count")
    return Answer(
        f"{found.id}: {len(alerts)} alerts, {active} active",
        {"run": found.id, "total": len(alerts), "alerts": [fields(one, names) for one in alerts]},
        listing=Listing("alerts", total=len(alerts)),
        next=call_text("diagnose", run=found.id),
    )


def _events(context: ToolContext, run: str, limit: int, cursor: str) -> Answer:
    """Returns events, newest first; the cursor is the number of events that are older than those shown."""
    count = context.ask(api.events, run, limit=0).total
    end = _number(cursor, count)
    start = max(end - limit, 0)
    page = context.ask(api.events, run, after=start, limit=end - start)
    listed = [
        {"kind": one.kind, "env_steps": one.env_steps, "time": moment(one.time), "text": one.text}
        for one in reversed(page.events)
    ]
    return Answer(
        f"{page.run}: {count} events; newest shown: {listed[0]['kind'] if listed else 'none'}",
        {"run": page.run, "total": count, "events": listed},
        listing=Listing(
            "events",
            total=end,
            cursor_after=lambda n: str(end - n),
            has_more=start > 0,
        ),
    )


def _log(context: ToolContext, run: str, limit: int, cursor: str) -> Answer:
    """Returns the last lines of the log; with a cursor, the lines that follow it."""
    if not cursor:
        page = context.ask(api.logs, run, last=limit)
        shown = _last_lines(page.lines, MORE_BYTES if limit > LINES else PAGE_BYTES)
        earlier = f"earlier lines (cursor={START!r} reads from the start)"
        left_out = (earlier,) if len(page.lines) == limit or shown != page.lines else ()
        page = replace(page, lines=shown)
    else:
        after = "" if cursor == START else cursor
        page = context.ask(api.logs, run, after=after, max_bytes=PAGE_BYTES)
        left_out = ("the lines that follow",) if page.has_more else ()
    last = page.lines[-1] if page.lines else "the log is empty"
    content = {"run": page.run, "total": len(page.lines), "lines": page.lines, "ended": page.ended}
    more = {"cursor": page.cursor} if cursor and page.has_more else {}
    return Answer(f"{page.run}: {last}", content | more, left_out=left_out)


def _last_lines(lines: list[str], room: int) -> list[str]:
    """Returns the last lines that have at most so many bytes; at least the last one."""
    first = len(lines)
    while first and (size := len(lines[first - 1].encode()) + 4) <= room:
        room -= size
        first -= 1
    return lines[first:] or lines[-1:]


def _number(cursor: str, default: int) -> int:
    if not cursor:
        return default
    if not cursor.isdecimal() or int(cursor) > default:
        raise UsageError(f"{cursor!r} is not a cursor", fix="pass the one of an earlier answer")
    return int(cursor)
