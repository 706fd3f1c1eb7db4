"""The table of steps of an episode as text: the columns and the steps that say most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

Cell = bool | int | float | str | None
Columns = Mapping[str, Sequence[Cell]]
MAX_STEPS = 80
"""Number of steps in the text."""
AROUND = 2
"""Number of steps before and after a key moment that are shown."""
MAX_COLUMNS = {
    "obs": 16,
    "p": 8,
    "mean": 8,
    "shaping": 6,
    "action": 8,
    "info": 4,
    "input": 0,
    "mask": 0,
}
"""Group (the name of a column up to the first slash) -> how many of its columns are shown."""


MAX_OTHERS = 24
"""Number of columns of any other group, such as a role of a match."""


def choose_steps(total: int, moments: Iterable[int]) -> list[int]:
    """Returns the numbers of at most MAX_STEPS steps of `total`: the first and the last ones, those around
    `moments` as long as there is room, and others in equal distances."""
    if total <= MAX_STEPS:
        return list(range(total))
    chosen = {*range(3), *range(total - 5, total)}
    for moment in moments:
        near = range(max(0, moment - AROUND), min(total, moment + AROUND + 1))
        if len(chosen | set(near)) <= MAX_STEPS * 3 // 4:
            chosen |= set(near)
    rest = MAX_STEPS - len(chosen)
    chosen |= {round(i * (total - 1) / (rest - 1)) for i in range(rest)}
    return sorted(chosen)


def choose_columns(table: Columns) -> tuple[list[str], dict[str, Cell], list[str]]:
    """Returns the columns to show, the ones with the same value in every step (name -> value), and the ones
    that are omitted because their group has too many."""
    shown: list[str] = []
    constant: dict[str, Cell] = {}
    omitted: list[str] = []
    count: dict[str, int] = {}
    for name, values in table.items():
        group = name.partition("/")[0]
        if count.get(group, 0) >= MAX_COLUMNS.get(group, MAX_OTHERS):
            omitted.append(name)
            continue
        if name != "step" and len(values) > 1 and all(value == values[0] for value in values):
            constant[name] = values[0]
            continue
        count[group] = count.get(group, 0) + 1
        shown.append(name)
    return shown, constant, omitted


def steps_text(table: Columns, steps: Sequence[int]) -> str:
    """Returns these steps as CSV, with a line per step."""
    shown, _, _ = choose_columns(table)
    lines = [",".join(shown)]
    lines += [",".join(cell_text(table[name][step]) for name in shown) for step in steps]
    return "\n".join(lines)


def cell_text(value: Cell) -> str:
    """Returns a value with four significant digits; empty if there is none."""
    if value is None or isinstance(value, str):
        return (value or "").replace(",", ";")
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int) or (
        math.isfinite(value) and value == int(value) and abs(value) < 1e6
    ):
        return str(int(value))
    return f"{value:.4g}"
