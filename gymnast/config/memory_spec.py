"""The memory of a policy as one value: `lstm:128`, `gru:64`, or several layers, `lstm:128x2`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from gymnast.config.numbers import quote_value
from gymnast.config.parsed_value import ParsedValue

CellName = Literal["lstm", "gru"]
MAX_WIDTH, MAX_LAYERS = 4096, 8
_TEXT = re.compile(r"(?P<cell>[a-z]+):(?P<width>\d+)(x(?P<layers>\d+))?")


@dataclass(frozen=True)
class MemorySpec(ParsedValue):
    """Recurrent layers of one kind and width."""

    cell: CellName
    width: int
    """Number of units of each layer."""
    layers: int = 1

    @classmethod
    def parse(cls, value: object) -> MemorySpec:
        """Parses the text of a memory; raises ValueError for anything else."""
        if isinstance(value, MemorySpec):
            return value
        match = _TEXT.fullmatch(value.strip().lower()) if isinstance(value, str) else None
        if match is None:
            raise ValueError(f"{quote_value(value)} is not a memory (expected {_FORMS})")
        cell = next((name for name in get_args(CellName) if name == match["cell"]), None)
        if cell is None:
            known = " or ".join(get_args(CellName))
            raise ValueError(f"{match['cell']} is not a kind of memory (expected {known})")
        width, layers = int(match["width"]), int(match["layers"] or 1)
        if not (1 <= width <= MAX_WIDTH and 1 <= layers <= MAX_LAYERS):
            limits = f"1 to {MAX_WIDTH:,} units and 1 to {MAX_LAYERS} layers"
            raise ValueError(f"{value} is out of range (expected {limits})")
        return cls(cell, width, layers)

    def __str__(self) -> str:
        return f"{self.cell}:{self.width}" + (f"x{self.layers}" if self.layers > 1 else "")


_FORMS = "CELL:UNITS such as lstm:128, CELL:UNITSxLAYERS such as gru:64x2, or off"
