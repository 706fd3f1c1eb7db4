"""What is done to a setting, and how far: `x0.5` multiplies it, `by -0.01` shifts it, `to 1e-4` sets
it; `1e-5..1e-2` are its bounds.

Of a schedule the highest value is multiplied or shifted, and its whole course is scaled with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gymnast.config.numbers import Share, number_text, parse_number, show
from gymnast.config.schedule import Schedule
from gymnast.config.written import Written

_FORMS = "x0.5 to multiply, `by 0.01` or `by -0.01` to shift, `to 1e-4` to set"


@dataclass(frozen=True)
class Within(Written):
    low: float
    high: float

    @classmethod
    def parse(cls, value: Any) -> Within:
        if isinstance(value, Within):
            return value
        low, dots, high = str(value).partition("..")
        if not dots:
            raise ValueError(f"{show(value)} is no range (expected LOW..HIGH such as 1e-5..1e-2)")
        found = cls(parse_number(low), parse_number(high))
        if not found.low < found.high:
            raise ValueError(f"{show(value)} is upside down (expected LOW..HIGH)")
        return found

    def nearest(self, number: float) -> float:
        return min(max(number, self.low), self.high)

    def __str__(self) -> str:
        return f"{number_text(self.low)}..{number_text(self.high)}"


@dataclass(frozen=True)
class Change(Written):
    factor: float | None = None
    amount: float | None = None
    value: str | None = None
    """Exactly one of the three: what it is multiplied by, shifted by, or set to."""

    @classmethod
    def parse(cls, value: Any) -> Change:
        if isinstance(value, Change):
            return value
        text = value.strip() if isinstance(value, str) else ""
        how, _, rest = text.partition(" ")
        if text.startswith("x"):
            factor = parse_number(text[1:])
            if factor <= 0 or factor == 1:
                raise ValueError(f"{text} cannot be (expected a factor above 0 other than 1)")
            return cls(factor=factor)
        if how == "by":
            amount = parse_number(rest)
            if amount == 0:
                raise ValueError(f"`{text}` changes nothing (expected another number than 0)")
            return cls(amount=amount)
        if how == "to" and rest.strip():
            return cls(value=rest.strip())
        # a number alone could mean any of the three: YAML reads +0.01 as 0.01
        raise ValueError(f"{show(value)} is no change (expected {_FORMS})")

    @property
    def is_relative(self) -> bool:
        return self.value is None

    def of(self, setting: Any, within: Within | None) -> Any:
        """What it makes of a setting's value: that same value where it can go no further. Raises
        ValueError where there is no number to change."""
        if self.value is not None:
            return self.value
        assert within is not None
        if isinstance(setting, Schedule):
            return self._of_schedule(setting, within)
        if isinstance(setting, bool | Share) or not isinstance(setting, int | float):
            is_now = "off" if setting is None else str(setting)
            raise ValueError(f"is {is_now}, which is no number to change (set it with `to ...`)")
        wanted = self._moved(setting)
        if isinstance(setting, int):  # at least to the next whole number
            wanted = (math.ceil if wanted > setting else math.floor)(round(wanted, 9))
        reached = _towards(setting, wanted, within)
        return int(reached) if isinstance(setting, int) else reached

    def _moved(self, number: float) -> float:
        return number * self.factor if self.factor is not None else number + (self.amount or 0.0)

    def _of_schedule(self, schedule: Schedule, within: Within) -> Schedule:
        stands = schedule.highest
        wanted = self._moved(stands)
        reached = _towards(stands, wanted, within)
        if reached == stands:
            return schedule
        if self.factor is not None and reached == wanted:
            return schedule.scaled(self.factor)
        return schedule.with_highest(reached)

    def __str__(self) -> str:
        if self.factor is not None:
            return f"x{number_text(self.factor)}"
        return f"to {self.value}" if self.amount is None else f"by {number_text(self.amount)}"


def _towards(stands: float, wanted: float, within: Within) -> float:
    """As far as the bounds let it. A number that someone has put outside of them is left alone
    rather than moved the other way."""
    reached = within.nearest(wanted)
    onwards = (reached - stands) * (wanted - stands) > 0
    return reached if onwards and not math.isclose(reached, stands) else stands
