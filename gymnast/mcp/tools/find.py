"""The tool `find`: what exists, and what it means."""

from __future__ import annotations

from typing import Annotated

from gymnast import api
from gymnast.find.find import Found, Hit
from gymnast.find.sources import Kind
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import Problem, ToolError
from gymnast.mcp.shape import call_text, fields

PAGE = 8
PAGE_CHARS = 3000
"""Characters of documentation in an answer."""


def find(
    context: ToolContext,
    query: str = "",
    kind: Kind | None = None,
    read: Annotated[str, "a doc or metric that was found, to read in full"] = "",
    limit: int | None = None,
    cursor: str = "",
) -> Answer:
    """Searches presets, environments, metrics, settings, documentation and runs by words; misspellings are
    tolerated. Counts per kind, then the best matches."""
    if cursor and not cursor.isdecimal():
        fix = "pass the one of an earlier answer"
        raise ToolError(Problem("usage", f"{cursor!r} is not a cursor", at="find.cursor", fix=fix))
    if read:
        return _read(context, read, kind, int(cursor or 0))
    if not query and kind is None:
        problem = "say what to search for"
        raise ToolError(
            Problem("usage", problem, at="find.query", fix="or list everything of a `kind`")
        )
    found = context.ask(api.find, query, kind=kind, limit=limit or PAGE, offset=int(cursor or 0))
    return _hits(found, kind)


def _hits(found: Found, kind: Kind | None) -> Answer:
    total = found.counts.get(kind, 0) if kind else sum(found.counts.values())
    counts = ", ".join(f"{count} {name}" for name, count in found.counts.items()) or "nothing"
    best = found.hits[0] if found.hits else None
    lead = f"; best: {best.kind} {best.name}" if best and not found.offset else ""
    return Answer(
        f"{counts}{lead}",
        {
            "total": total,
            "counts": found.counts,
            "corrected": found.corrected,
            "hits": [fields(hit, ("kind", "name", "text")) for hit in found.hits],
        },
        listing=Listing(
            "hits",
            total=total,
            before=found.offset,
            cursor_after=lambda n: str(found.offset + n),
            has_more=found.cursor is not None,
        ),
        next=_next(best),
    )


def _next(best: Hit | None) -> str:
    """Returns the call that says more about a match."""
    if best is None:
        return call_text("find", kind="preset")
    return {
        "preset": call_text("config", target=best.name),
        "environment": call_text("config", target=best.name, dry_run=True),
        "metric": call_text("find", read=best.name, kind="metric"),
        "setting": call_text("config", target="ENV", keys=[best.name]),
        "doc": call_text("find", read=best.name, kind="doc"),
        "run": call_text("runs", run=best.name),
    }[best.kind]


def _read(context: ToolContext, name: str, kind: Kind | None, start: int) -> Answer:
    """Returns the text of a page or section of the documentation, or the description of a metric."""
    if kind == "metric":
        return _metric(context, name)
    try:
        page = context.ask(api.docs, name)
    except ToolError as error:
        if kind == "doc":
            raise
        try:
            return _metric(context, name)
        except ToolError:
            raise error from None
    text = page.text[start : start + PAGE_CHARS]
    rest = len(page.text) - start - len(text)
    content = {"total": len(page.text), "name": page.name, "text": text}
    if not rest:
        return Answer(f"{page.name}: {page.title}", content)
    return Answer(
        f"{page.name}: {page.title}, characters {start} to {start + len(text)}",
        content
        | {"cursor": str(start + len(text)), "sections": [one.name for one in page.headings[:12]]},
        left_out=(f"{rest} more characters",),
        next=call_text("find", read=name, kind="doc", cursor=str(start + len(text))),
    )


def _metric(context: ToolContext, name: str) -> Answer:
    found = context.ask(api.metrics, name)[0]
    return Answer(f"{found.name}: {found.meaning}", {"total": 1, "metric": found})
