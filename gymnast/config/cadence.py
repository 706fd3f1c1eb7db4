"""A period at which something repeats: `10k env_steps`, `5 rollouts`, `10 minutes`, `5%` of the budget."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from gymnast.clock import UNIT_NAMES, UNITS, Clock
from gymnast.config.numbers import (
    format_count,
    format_number,
    parse_number,
    parse_percent,
    quote_value,
)
from gymnast.config.parsed_value import ParsedValue
from gymnast.errors import ConfigError


@dataclass(frozen=True)
class Cadence(ParsedValue):
    amount: float
    clock: str
    """Name of a clock, or `%` for a percentage of the main budget."""

    @classmethod
    def parse(cls, value: object) -> Cadence:
        """Returns the cadence for a text such as `10k env_steps` or `5%`; a Cadence is returned as it is.
        Units are converted to those of the clock (minutes to seconds). Raises ValueError for anything
        else."""
        if isinstance(value, Cadence):
            return value
        match = re.fullmatch(r"\s*(\S*\d\S*?|\.\d+)\s*(%|[a-z_]+)?\s*", str(value))
        if value is None or isinstance(value, bool) or match is None:
            raise ValueError(f"{quote_value(value)} is not a cadence (expected {_EXAMPLE})")
        number, unit = match[1], match[2]
        if unit is None or unit == "k":  # the lazy number group leaves the k of `10k` to the unit
            raise ValueError(f"which clock? write `{str(value).strip()} env_steps` or a percentage")
        if unit != "%" and unit not in UNITS:
            raise ValueError(f"unknown unit {unit} (expected one of {', '.join(UNIT_NAMES)})")
        clock, factor = ("%", 1) if unit == "%" else UNITS[unit]
        amount = (parse_percent(number) if unit == "%" else parse_number(number)) * factor
        if not 0 < amount < math.inf or (unit == "%" and amount > 100):
            raise ValueError(f"{quote_value(value)} is out of range (expected {_EXAMPLE})")
        return cls(amount, clock)

    def required_budget(self, main: str) -> str | None:
        """Returns the clock on which a budget must be set, or None if none is needed. `main`: the clock of
        the main budget, which percentages refer to."""
        return main if self.clock == "%" else None

    def period(self, clock: Clock) -> tuple[str, float]:
        """Returns (clock name, period on that clock). Raises ConfigError for a percentage without a main
        budget."""
        if self.clock != "%":
            return self.clock, self.amount
        total = clock.limit(clock.main_clock)
        if total is None:
            raise ConfigError(f"every {self} needs a budget", fix="write e.g. `10k env_steps`")
        return clock.main_clock, self.amount / 100 * total

    def __str__(self) -> str:
        if self.clock == "%":
            return f"{format_number(self.amount)}%"
        return f"{format_count(self.amount)} {self.clock}"


class PeriodicTrigger:
    """Decides when a cadence is due on a clock that advances in jumps (a modulo would miss multiples)."""

    def __init__(self, cadence: Cadence | None, clock: Clock) -> None:
        self.cadence = cadence
        # Starts at the current reading: a trigger that is created late must not fire for the past.
        self.last = clock.read(cadence.period(clock)[0]) if cadence else 0.0

    def due(self, clock: Clock) -> bool:
        """True if one or more multiples of the period have been crossed since the last True."""
        if self.cadence is None:
            return False
        name, period = self.cadence.period(clock)  # read anew: a live change may move the budget
        now = clock.read(name)
        crossed = _multiples(now, period) > _multiples(self.last, period)
        if crossed:  # a jump over several multiples fires once
            self.last = now
        return crossed

    def state(self) -> dict[str, float]:
        return {"last": self.last}

    def load(self, state: dict[str, float]) -> None:
        self.last = state["last"]


_EXAMPLE = "e.g. `10k env_steps`, `5 rollouts`, `10 minutes`, `5%` or off"


def _multiples(reading: float, period: float) -> int:
    # The tolerance makes an exact multiple count although the division may round below it.
    return math.floor(reading / period * (1 + 1e-12))
