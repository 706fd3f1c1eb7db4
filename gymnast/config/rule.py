"""A condition on a metric over several rows: `eval/easy:episode/return >= 200 for 3`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import ge, gt, le, lt

from gymnast.config.numbers import format_number, parse_count, parse_number, quote_value
from gymnast.config.parsed_value import ParsedValue

_COMPARE = {">=": ge, "<=": le, ">": gt, "<": lt}
_TEXT = re.compile(r"(?P<key>\S+) *(?P<sign>>=|<=|>|<) *(?P<bound>\S+)(?: +for +(?P<rows>\S+))?")


@dataclass(frozen=True)
class Rule(ParsedValue):
    key: str
    """Key of a row of metrics: `[scope:]metric`."""
    comparison: str
    bound: float
    rows: int = 1
    """Number of consecutive rows with the metric in which the comparison must hold."""

    @classmethod
    def parse(cls, value: object) -> Rule:
        """Returns the rule for a text `METRIC >= NUMBER [for ROWS]`; a Rule is returned as it is. Raises
        ValueError for anything else."""
        if isinstance(value, Rule):
            return value
        match = _TEXT.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            expected = "METRIC >= NUMBER [for ROWS], such as episode/return >= 200 for 3"
            raise ValueError(f"{quote_value(value)} is not a rule (expected {expected})")
        rows = parse_count(match["rows"]) if match["rows"] else 1
        return cls(match["key"], match["sign"], parse_number(match["bound"]), rows)

    def holds(self, row: Mapping[str, float]) -> bool:
        """True if the comparison holds in this row, which must contain the metric."""
        return _COMPARE[self.comparison](row[self.key], self.bound)

    def __str__(self) -> str:
        times = f" for {self.rows}" if self.rows > 1 else ""
        return f"{self.key} {self.comparison} {format_number(self.bound)}{times}"
