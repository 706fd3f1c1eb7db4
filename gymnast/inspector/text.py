"""A stored episode as text, for terminals and assistants: header, timeline, key moments, steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from gymnast.inspector.moments import KeyMoment
from gymnast.inspector.option_names import table_with_option_names
from gymnast.inspector.record import EpisodeInspection
from gymnast.text import formatting
from gymnast.text.chart import short_number, sparkline

TIMELINE_WIDTH = 72
"""Width of the timeline, in characters."""
MAX_STEPS = 40
"""Number of steps up to which all of them are shown."""
AROUND_STEP, AROUND_MOMENT = 10, 1
"""Number of steps shown before and after the chosen step, and each key moment."""
MARKS = {
    "value_error": "v",
    "td_error": "t",
    "value_drop": "d",
    "surprise": "s",
    "reward": "r",
    "end": "|",
}
"""Kind of key moment -> its mark on the timeline."""
Cell = bool | int | float | str | None


def inspection_text(inspection: EpisodeInspection, *, step: int | None, width: int) -> str:
    """Returns an episode as text of at most `width` characters per line, except for long names. `step`: the
    step around which steps are shown; None: those around the key moments, or all of a short episode."""
    parts = [
        _header(inspection),
        _timeline(inspection),
        _moments(inspection.moments),
        _steps(inspection, step, width),
    ]
    return "\n\n".join(part for part in parts if part)


def _header(inspection: EpisodeInspection) -> str:
    """Returns what is known about the whole episode, and notes about what is not known."""
    info, address = inspection.info, inspection.address
    name = f"{inspection.env}, {info.kind} episode {info.number} of version {info.version:,}"
    lines = [f"{address.path.name}: {name}"]
    if inspection.roles:
        lines.append(f"  the {address.role} in seat {address.seat}")
        returns = (f"{role} {mean:.4g}" for role, mean in info.returns.items())
        total = f"returns {', '.join(returns)}"
    else:
        total = f"return {'unknown' if info.raw_return is None else f'{info.raw_return:.6g}'}"
    steps = f"{info.length:,} step{'s' * (info.length != 1)}"
    lines.append(f"  {total}, {steps}, {info.outcome}, seed {info.seed}")
    notes = (inspection.replay.note, inspection.policy_note, inspection.table_note)
    return "\n".join([*lines, *(f"  note: {note}" for note in notes if note)])


def _timeline(inspection: EpisodeInspection) -> str:
    """Returns value and reward over time as rows of bars, with the marks of the key moments above."""
    table = inspection.table
    steps = len(table["step"])  # an agent may be out before the match ends
    value = next((name for name in ("value_raw", "value_learned") if name in table), None)
    rows = {name: _numbers(table[name]) for name in (value, "reward_raw") if name in table}
    if not rows or not steps:
        return ""
    width = min(TIMELINE_WIDTH, steps)
    marks = [" "] * width
    for moment in inspection.moments:
        marks[moment.step * width // steps] = MARKS[moment.kind]
    margin = max(map(len, rows))
    lines = [f"{'':{margin}}  {''.join(marks)}".rstrip()]
    for name, numbers in rows.items():
        finite = [x for x in numbers if math.isfinite(x)]
        ends = (
            f"{short_number(min(finite))} to {short_number(max(finite))}" if finite else "unknown"
        )
        lines.append(f"{name:{margin}}  {sparkline(numbers, width)}  {ends}")
    last = f"{steps - 1:,}"
    lines.append(f"{'step':{margin}}  0{last:>{max(width - 1, len(last) + 1)}}")
    return "\n".join(lines)


def _moments(moments: Sequence[KeyMoment]) -> str:
    head = ("mark", "step", "kind", "size", "what happened")
    lines = [
        (MARKS[m.kind], f"{m.step:,}", m.kind.replace("_", " "), f"{m.size:.2f}", m.text)
        for m in moments
    ]
    return f"key moments\n{formatting.table(head, lines, right='step size')}" if moments else ""


def _steps(inspection: EpisodeInspection, step: int | None, width: int) -> str:
    """Returns the table of the chosen steps, with as many columns as fit."""
    columns = _columns(inspection)
    lines = [list(columns)]
    before = -1
    for t in _chosen_steps(inspection, step):
        if t > before + 1:
            lines.append(["...", *[""] * (len(columns) - 1)])
        lines.append([_cell(column[t]) for column in columns.values()])
        before = t
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    # Columns that do not fit are left out, from the right.
    kept = max(1, sum(end - 2 <= width for end in accumulate(w + 2 for w in widths)))
    left_aligned = [any(isinstance(x, str) for x in cells) for cells in columns.values()]
    shown = [
        "  ".join(
            cell.ljust(w) if left else cell.rjust(w)
            for cell, w, left in zip(line[:kept], widths, left_aligned, strict=False)
        ).rstrip()
        for line in lines
    ]
    if hidden := list(columns)[kept:]:
        shown.append(f"not shown: {', '.join(hidden)} (a wider terminal, --csv or --json)")
    return "\n".join(["steps", *shown])


def _chosen_steps(inspection: EpisodeInspection, step: int | None) -> list[int]:
    steps = len(inspection.table["step"])
    if step is not None:
        near, around = [step], AROUND_STEP
    elif steps <= MAX_STEPS:
        return list(range(steps))
    else:
        near, around = [0, *(moment.step for moment in inspection.moments)], AROUND_MOMENT
    found = {t for n in near for t in range(n - around, n + around + 1)}
    return sorted(t for t in found if 0 <= t < steps)


def _columns(inspection: EpisodeInspection) -> dict[str, Sequence[Cell]]:
    """Returns the columns for people, the most important ones first."""
    table = table_with_option_names(inspection)
    labels = {info.name: info.label for info in inspection.columns}
    columns: dict[str, Sequence[Cell]] = {"step": table["step"]}
    actions = [name for name in table if name == "action" or name.startswith("action/")]
    columns |= {labels[name]: table[name] for name in actions}
    # A continuous action has a density, not a probability.
    is_discrete = "action" in table or any(name.startswith("p/") for name in table)
    if is_discrete and "logprob" in table:
        columns["P(action)"] = [None if x is None else math.exp(float(x)) for x in table["logprob"]]
    value = "value_raw" if "value_raw" in table else "value_learned"
    wanted = (
        *("greedy", "reward_raw", "reward_so_far_raw", value, "advantage_learned"),
        *("td_error_learned", "entropy"),
    )
    columns |= {labels[name]: table[name] for name in wanted if name in table}
    ends = zip(table["terminated"], table["truncated"], strict=True)
    end = ["terminated" if a else "truncated" if b else "" for a, b in ends]
    if end and end[-1]:
        columns["end"] = end
    # Prefixed, because an observation may be called like another column.
    columns |= {name: table[name] for name in table if name.startswith("obs/")}
    return columns


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _numbers(column: Sequence[Cell]) -> list[float]:
    return [float(x) if isinstance(x, int | float) else math.nan for x in column]
