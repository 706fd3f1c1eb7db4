"""Resources: files of runs, as text of a limited size.

`gymnast://runs/RUN/FILE`. What is longer than an answer may be is cut, and the first line says so: of logs,
events and metrics the end is shown, of others the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import mcp_types as types

from gymnast import api
from gymnast.mcp.answer import BYTES_PER_TOKEN, MAX_TOKENS
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import Problem, ToolError, unknown
from gymnast.mcp.tools import briefs
from gymnast.runs import layout
from gymnast.runs.layout import RunFile
from gymnast.runs.summary import RunSummary

SCHEME = "gymnast"
MAX_BYTES = MAX_TOKENS * BYTES_PER_TOKEN - 1000
PAGE = 5
"""Runs in one page of the list of resources."""


@dataclass(frozen=True)
class RunResource:
    """A file of every run."""

    name: str
    """The last part of its URI."""
    file: RunFile
    """The entry of the run directory that has it."""
    mime_type: str
    ends_matter: bool
    """Whether the end is shown if it is too long, not the start."""
    content: str
    """A description of its content."""


RESOURCES: dict[str, RunResource] = {
    one.name: one
    for one in (
        RunResource("config.yaml", layout.CONFIG, "application/yaml", False, "the resolved config"),
        RunResource("run.json", layout.RUN, "application/json", False, layout.RUN.content),
        RunResource(
            "events.jsonl", layout.EVENTS, "application/jsonl", True, layout.EVENTS.content
        ),
        RunResource("log.txt", layout.LOG, "text/plain", True, layout.LOG.content),
        RunResource("metrics.csv", layout.METRICS, "text/csv", True, "one row per rollout"),
        RunResource("report.md", layout.REPORT, "text/markdown", False, "the report, if written"),
    )
}
"""Name -> resource of a run."""


def list_resources(context: ToolContext, cursor: str) -> tuple[list[types.Resource], str | None]:
    """Returns the resources of some runs, newest first, and the cursor that continues."""
    page = context.ask(api.runs, after=cursor or None, limit=PAGE)
    listed = [
        _resource(run, resource)
        for run in page.runs
        if run.is_readable
        for resource in RESOURCES.values()
        if resource.file.path(Path(run.path)).exists()
    ]
    return listed, page.cursor


def templates() -> list[types.ResourceTemplate]:
    """Returns a template per file, for any run."""
    return [
        types.ResourceTemplate(
            name=one.name,
            uri_template=f"{SCHEME}://runs/{{run}}/{one.name}",
            description=one.content,
            mime_type=one.mime_type,
        )
        for one in RESOURCES.values()
    ]


def read_resource(context: ToolContext, uri: str) -> types.TextResourceContents:
    """Returns a resource. Raises ToolError if there is none."""
    ref, resource = _parse(uri)
    text = _text(context, ref, resource)
    return types.TextResourceContents(uri=uri, mime_type=resource.mime_type, text=text)


def _resource(run: RunSummary, resource: RunResource) -> types.Resource:
    return types.Resource(
        name=f"{run.id}/{resource.name}",
        uri=f"{SCHEME}://runs/{run.id}/{resource.name}",
        description=f"{briefs.label(run)}: {resource.content}",
        mime_type=resource.mime_type,
    )


def _parse(uri: str) -> tuple[str, RunResource]:
    """Returns the reference to a run and the file that a URI names."""
    parts = urlsplit(uri)
    names = [unquote(part) for part in parts.path.strip("/").split("/")]
    if parts.scheme != SCHEME or parts.netloc != "runs" or len(names) != 2:
        fix = f"use {SCHEME}://runs/RUN/FILE with one of: {', '.join(RESOURCES)}"
        raise ToolError(Problem("usage", f"{uri!r} is not a resource of this server", fix=fix))
    ref, name = names
    if name not in RESOURCES:
        fix = f"use one of: {', '.join(RESOURCES)}"
        raise unknown(name, RESOURCES, f"a run has no resource {name!r}", at=uri, fix=fix)
    return ref, RESOURCES[name]


def _text(context: ToolContext, ref: str, resource: RunResource) -> str:
    """Returns the text of a file of a run, cut to the maximum size."""
    if resource.file is layout.METRICS:
        head, *rows = context.ask(api.rows_csv, ref).splitlines()
        return _tail_of_lines(rows, head)
    found = context.ask(
        api.run_file, ref, resource.name, max_bytes=MAX_BYTES, end=resource.ends_matter
    )
    if not found.left_out:
        return found.text
    which = "earlier" if resource.ends_matter else "later"
    return f"# left out: {found.left_out:,} {which} bytes\n{found.text}"


def _tail_of_lines(rows: Sequence[str], head: str) -> str:
    """Returns the header and as many of the last rows of a table as fit."""
    room = MAX_BYTES - len(head.encode()) - 1
    first = len(rows)
    while first and (size := len(rows[first - 1].encode()) + 1) <= room:
        room -= size
        first -= 1
    note = [f"# left out: {first:,} earlier rows"] if first else []
    return "\n".join([*note, head, *rows[first:], ""])
