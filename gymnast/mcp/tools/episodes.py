"""The tool `episodes`: stored episodes, their key moments, steps and blunders."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from gymnast import api
from gymnast.inspector.branch_record import BlunderReport
from gymnast.inspector.record import EpisodeInspection
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import Problem, ToolError, unknown
from gymnast.mcp.shape import call_text, fields, rounded, table
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.episodes import EpisodeInfo

View = Literal["list", "moments", "steps", "blunders"]
PAGE = 10
ADDRESS = ("kind", "version", "number")
"""Fields that name an episode of a run."""
STEPS = 12
BRIEF_COLUMNS = ("step", "action", "reward_raw", "value_raw", "return_to_go_raw")
"""Columns of a moment and, after the observation, of steps unless others are asked for."""


def episodes(
    context: ToolContext,
    run: str,
    view: View = "list",
    kind: Annotated[Kind | None, "default eval, in a list any"] = None,
    version: Annotated[int | None, "env steps of the policy; default: the best"] = None,
    number: int | None = None,
    start: Annotated[int, "first step"] = 0,
    columns: Sequence[str] = (),
    role: str = "",
    limit: int | None = None,
    cursor: str = "",
) -> Answer:
    """Stored episodes of a run. list: return, length, seed, outcome; of one episode (kind, version, number):
    moments: the steps to look at first and why; steps: table of observations, actions, rewards, values;
    blunders: steps where another action would have earned more (searched if needed)."""
    if view == "list":
        return _listed(context, run, kind, version, limit or PAGE, cursor)
    chosen: Kind = kind or "eval"
    if view == "blunders":
        return _blunders(context, run, chosen, version, number)
    found = context.ask(api.inspect, run, chosen, version, number, role=role)
    if view == "moments":
        return _moments(found)
    return _steps(found, columns, _step(cursor, start), limit or STEPS)


def _listed(
    context: ToolContext,
    run: str,
    kind: Kind | None,
    version: int | None,
    limit: int,
    cursor: str,
) -> Answer:
    """Returns a page of the list of episodes, counts first."""
    page = context.ask(
        api.episodes, run, kind=kind or "", version=version, after=cursor or None, limit=limit
    )
    every = (
        [] if cursor else context.ask(api.episodes, run, kind=kind or "", version=version).episodes
    )
    counts = dict(Counter(one.kind for one in every))
    total = len(every) if every else None
    extremes = _extremes(every)
    text = ", ".join(f"{count} {name}" for name, count in counts.items()) or f"{len(page.episodes)}"
    first = extremes.get("worst") or (_info(page.episodes[0]) if page.episodes else None)
    return Answer(
        f"{page.run}: {text} episodes",
        {
            "run": page.run,
            "total": total,
            "counts": counts,
            **extremes,
            "episodes": [_info(one) for one in page.episodes],
        },
        listing=Listing(
            "episodes",
            total=total,
            cursor_after=lambda n: "/".join(map(str, page.episodes[n - 1].position)),
            has_more=page.cursor is not None,
        ),
        next=call_text(
            "episodes", run=page.run, view="moments", **{name: first[name] for name in ADDRESS}
        )
        if first
        else "",
    )


def _extremes(every: Sequence[EpisodeInfo]) -> dict[str, dict[str, object]]:
    """Returns the episodes with the lowest and the highest return, and the one that the critic was most wrong
    about; of matches, none."""
    scored = [one for one in every if one.raw_return is not None]
    surprising = [one for one in every if one.surprise is not None]
    chosen = {
        "worst": min(scored, key=lambda one: one.raw_return or 0.0, default=None),
        "best": max(scored, key=lambda one: one.raw_return or 0.0, default=None),
        "most_surprising": max(surprising, key=lambda one: one.surprise or 0.0, default=None),
    }
    return {
        name: {**_address(one), "return": one.raw_return, "surprise": one.surprise}
        for name, one in chosen.items()
        if one is not None
    }


def _info(one: EpisodeInfo) -> dict[str, object]:
    names = (
        "kind",
        "version",
        "number",
        "length",
        "seed",
        "outcome",
        "returns",
        "cast",
        "surprise",
    )
    return {**fields(one, names[:3]), "return": one.raw_return, **fields(one, names[3:])}


def _address(one: EpisodeInfo) -> dict[str, object]:
    return fields(one, ADDRESS)


def _step(cursor: str, start: int) -> int:
    """Returns the first step of an answer: that of the cursor of an earlier answer, else `start`."""
    if cursor and not cursor.isdecimal():
        fix = "pass the one of an earlier answer"
        raise ToolError(Problem("usage", f"{cursor!r} is not a cursor", at="episodes", fix=fix))
    return max(int(cursor) if cursor else start, 0)


def _episode(found: EpisodeInspection) -> dict[str, object]:
    return _info(found.info) | {
        "run": found.address.path.name,
        "role": found.address.role,
        "replayed_exactly": found.replay.exact,
        "note": found.table_note or found.policy_note or found.replay.note,
    }


def _moments(found: EpisodeInspection) -> Answer:
    """Returns the steps of an episode to look at first, each with what the policy did and expected."""
    columns = [name for name in BRIEF_COLUMNS if name in found.table]
    moments = [
        fields(one, ("step", "kind", "size", "text"))
        | {name: found.table[name][one.step] for name in columns if name != "step"}
        for one in found.moments
    ]
    moments.sort(key=lambda one: -float(one["size"] or 0))  # pyright: ignore[reportArgumentType]
    worst = moments[0] if moments else None
    text = f"; first: step {worst['step']}, {worst['text']}" if worst else ""
    step = worst["step"] if worst else 0
    return Answer(
        f"{len(moments)} key moments in {found.info.length} steps{text}",
        {
            "run": found.address.path.name,
            "total": len(moments),
            "episode": _episode(found),
            "lowest_reward": _lowest(found, "reward_raw"),
            "lowest_value": _lowest(found, "value_raw"),
            "moments": moments,
        },
        listing=Listing("moments", total=len(moments)),
        next=call_text("frame", run=found.address.path.name, **_address(found.info), steps=[step]),
    )


def _lowest(found: EpisodeInspection, column: str) -> dict[str, object] | None:
    """Returns the step with the lowest number of a column; None without such a column."""
    numbers = [
        (value, step)
        for step, value in enumerate(found.table.get(column, ()))
        if isinstance(value, int | float) and math.isfinite(value)
    ]
    value, step = min(numbers, default=(0.0, -1))
    return None if step < 0 else {"step": step, "is": value}


def _steps(found: EpisodeInspection, columns: Sequence[str], start: int, limit: int) -> Answer:
    """Returns steps of an episode as a table. Column names may end in *."""
    known = list(found.table)
    if columns:
        chosen = [
            name
            for name in known
            if any(
                name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in columns
            )
        ]
        for one in columns:
            if not one.endswith("*") and one not in known:
                fix = f"columns: {', '.join(known[:30])}"
                problem = f"there is no column {one!r}"
                raise unknown(one, known, problem, at="episodes.columns", fix=fix)
    else:
        observed = [one.name for one in found.columns if one.group == "observation"]
        chosen = [name for name in ("step", *observed, *BRIEF_COLUMNS[1:]) if name in known]
    last = min(start + limit, found.info.length)
    rows = ({name: found.table[name][i] for name in chosen} for i in range(start, last))
    listed = table(rows, chosen)
    return Answer(
        f"steps {start} to {last - 1} of {found.info.length}, return {rounded(found.info.raw_return or 0)}",
        {
            "run": found.address.path.name,
            "total": found.info.length,
            "episode": _episode(found),
            "columns": listed["columns"],
            "rows": listed["rows"],
            "other_columns": [name for name in known if name not in chosen][:20],
        },
        listing=Listing(
            "rows",
            total=found.info.length,
            before=start,
            cursor_after=lambda n: str(start + n),
            has_more=last < found.info.length,
        ),
    )


def _blunders(
    context: ToolContext, run: str, kind: Kind, version: int | None, number: int | None
) -> Answer:
    """Returns the blunders that were found before; else searches them."""
    address = context.ask(api.find_episode, run, kind, version, number)
    stored = context.ask(api.stored_blunders, run, kind, version, number)
    report: BlunderReport = stored or context.run_task(api.blunders, run, kind, version, number)
    names = ("step", "level", "played_label", "better_label", "lost_raw", "error_raw", "lost")
    marks = [fields(one, names) for one in report.marks]
    worst = report.marks[0] if report.marks else None
    text = (
        f"; worst at step {worst.step}: {worst.played_label} instead of {worst.better_label}"
        f" lost {rounded(worst.lost_raw)}"
        if worst
        else ""
    )
    named = {"kind": kind, "version": address.version, "number": address.number}
    return Answer(
        f"{len(marks)} mistakes in {report.steps_tested} tested steps{text}",
        {
            "run": address.path.name,
            "total": len(marks),
            "episode": named,
            "steps_tested": report.steps_tested,
            "scale": report.scale,
            "blunders": marks,
        },
        listing=Listing("blunders", total=len(marks)),
        next=call_text("frame", run=address.path.name, **named, steps=[worst.step])
        if worst
        else "",
    )
