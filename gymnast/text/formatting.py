"""Formatting of the values of a run: scores, counts, durations, ages, tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Literal

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", re.IGNORECASE)


def interval(mean: float, low: float, high: float) -> str:
    """Formats a mean with its 95 % interval, if it has one (a single episode has none)."""
    if not math.isfinite(low):
        return number(mean)
    return f"{number(mean)} [{number(low)}, {number(high)}]"


def episodes_text(episodes: int, planned: int | None = None, missing: str = "") -> str:
    """Returns `100 episodes`, or `30 of 100 episodes, because ...` if `planned` ones are `missing`."""
    if planned is None:
        return count_noun(episodes, "episode")
    return f"{episodes:,} of {planned:,} episodes, because {missing}"


def number(value: float) -> str:
    """Formats a number with two decimals below ten, one below a thousand, none above."""
    size = abs(value)
    return f"{value:,.{2 if size < 10 else 1 if size < 1000 else 0}f}"


def times_text(factor: float) -> str:
    """Returns `6.2 times` with three significant digits; factors above a million are not spelled out."""
    return "over a million times" if factor > 1e6 else f"{float(f'{factor:.3g}'):,.10g} times"


def count_noun(n: float, noun: str, plural: str = "") -> str:
    """Returns `1 seed`, `1,000 seeds`; `plural` is for nouns that need more than an s."""
    return f"{n:,.0f} {noun if n == 1 else plural or f'{noun}s'}"


Verdict = Literal["", "solved", "not solved", "not confirmed", "doubtful"]


def solved_label(
    solved: bool | None, low: float | None, threshold: float | None, confirmed: bool
) -> Verdict:
    """Returns whether a run is solved; empty if there is no threshold (`solved` is None). `low`: the lower
    bound of its score, None without one; `confirmed`: whether it was scored on held-out seeds. A run that was
    stopped early was not, so even a score above the threshold is not confirmed. A confirmed score above it
    that does not count as solved is doubtful."""
    if solved is None:
        return ""
    enough = low is not None and threshold is not None and low >= threshold
    if not solved and enough:
        return "doubtful" if confirmed else "not confirmed"
    return "solved" if solved else "not solved"


def count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def area(value: float | None) -> str:
    """Formats an area under the learning curve; 1 means at the threshold from the first step."""
    return "-" if value is None else f"{value:.2f}"


def size(n_bytes: float) -> str:
    """Formats a number of bytes in decimal units (1 kB = 1000 bytes)."""
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"


def parse_size(text: str) -> int:
    """Returns the number of bytes that a text such as `20MB`, `1.5 GB` or `800000` names, in decimal units.
    Raises ValueError if it names none."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a size such as 20MB")
    power = ("", "k", "m", "g").index((found[2] or "").lower())
    return round(float(found[1]) * 1000**power)


def duration(seconds: float | None) -> str:
    """Formats a time in one or two units: `4.2 s`, `35 s`, `2 min 5 s`, `35 min`, `3 h 20 min`, `5 d`; a dash
    for None."""
    if seconds is None:
        return "-"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d"


def age(seconds: float) -> str:
    """Formats an age in its largest whole unit: `3 d`, `5 h`, `20 s`, and `now` below 10 seconds."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit:.0f} {name}"
    return "now" if seconds < 10 else f"{seconds:.0f} s"


def change(value: Mapping[str, object]) -> str:
    """Formats the change of a setting (`key`, `from`, `to`): `algo.lr 0.0001 (was 0.003 -> 0)`."""
    return f"{value['key']} {value['to']} (was {value['from']})"


def wrap_words(text: str, width: int) -> str:
    """Returns a text for a terminal of this width, which itself would break lines inside of numbers. Words
    that are longer than a line stay whole, so that paths can be copied."""
    lines = (
        wrap(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )
    return "\n".join("\n".join(wrapped) for wrapped in lines)


def table(head: Sequence[str], lines: Sequence[Sequence[str]], right: str = "") -> str:
    """Formats a table, columns two spaces apart. `head`: the names of the columns; `lines`: the cells; the
    columns named in `right` (separated by spaces) are right-aligned."""
    right_aligned = set(right.split())
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if name in right_aligned else cell.ljust(width)
            for name, cell, width in zip(head, line, widths, strict=True)
        ).rstrip()
        for line in (head, *lines)
    )
