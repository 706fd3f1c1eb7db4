"""The parts of a bundle, and how they are cut to a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gymnast.insight.report.blocks import Block, Figure
from gymnast.insight.report.markdown import render_markdown

MIN_BUDGET, DEFAULT_BUDGET, MAX_BUDGET = 5_000, 60_000, 10_000_000
"""Characters of a bundle."""
_FENCE = "```"
_SEPARATOR = "\n\n"


@dataclass(frozen=True)
class Unit:
    """A piece of a part, as Markdown."""

    text: str
    kind: Literal["lines", "whole", "picture"] = "lines"
    """`lines`: it may be cut after any line; `whole`: it is kept or omitted as a whole; `picture`: the same,
    and it is no text that could contain names or paths."""


@dataclass(frozen=True)
class Part:
    """One part of a bundle. Its first unit is its heading, which is always kept."""

    name: str
    units: tuple[Unit, ...]
    rank: int
    """Parts with a lower rank get their share of the budget first."""

    @property
    def text(self) -> str:
        return _SEPARATOR.join(unit.text for unit in self.units)


@dataclass(frozen=True)
class CutPart:
    """A part with the size that it has in the bundle."""

    name: str
    text: str
    cut: str = ""
    """A sentence about what was cut; empty if the part is complete."""


def part_of_blocks(name: str, rank: int, blocks: Sequence[Block]) -> Part:
    """Returns a part that consists of blocks of a report; charts become text."""
    units = [
        Unit(render_markdown([b]).rstrip("\n"), "whole" if isinstance(b, Figure) else "lines")
        for b in blocks
    ]
    return Part(name, tuple(units), rank)


def fit(parts: Sequence[Part], budget: int) -> list[CutPart]:
    """Returns the parts in their order, cut so that all of them together, with a blank line between two of
    them, have at most `budget` characters. Every part keeps its heading and says what was cut."""
    smallest = [min(len(p.text), len(_cut(p, 0).text)) for p in parts]
    left = budget - sum(smallest) - len(_SEPARATOR) * len(parts)
    cut: dict[int, CutPart] = {}
    for i in sorted(range(len(parts)), key=lambda i: parts[i].rank):
        cut[i] = _cut(parts[i], left + smallest[i])
        left -= max(0, len(cut[i].text) - smallest[i])
    return [cut[i] for i in range(len(parts))]


def _cut(part: Part, room: int) -> CutPart:
    """Returns a part with at most `room` characters; if there is no room, with its heading and the note."""
    whole = part.text
    if len(whole) <= room:
        return CutPart(part.name, whole)
    heading, *rest = part.units
    note_room = len(_note(len(whole), len(whole))) + len(_SEPARATOR)
    kept, size = [heading.text], len(heading.text) + note_room
    for unit in rest:
        free = room - size - len(_SEPARATOR)
        text = unit.text if len(unit.text) <= free else ""
        if not text and unit.kind == "lines":
            text = _first_lines(unit.text, free)
        if text:
            kept.append(text)
            size += len(text) + len(_SEPARATOR)
        if text != unit.text and unit.kind == "lines":
            break  # what follows would seem to continue the lines that are missing
    remaining = _SEPARATOR.join(kept)
    note = _note(len(whole) - len(remaining), len(whole))
    return CutPart(part.name, f"{remaining}{_SEPARATOR}{note}", note.strip("[]"))


def _first_lines(text: str, room: int) -> str:
    """Returns the lines at the start of a text that fit into `room` characters; a block of code that is cut
    is closed."""
    closing = f"\n{_FENCE}" if text.startswith(_FENCE) else ""
    kept: list[str] = []
    size = len(closing)
    for line in text.splitlines():
        size += len(line) + 1
        if size > room:
            break
        kept.append(line)
    # A table without a row, or code without a line, says nothing.
    return "\n".join(kept) + closing if len(kept) > 2 else ""


def _note(missing: int, total: int) -> str:
    return (
        f"[{missing:,} of the {total:,} characters of this part were cut to fit the size budget.]"
    )
