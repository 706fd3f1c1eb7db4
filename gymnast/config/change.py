"""A change of a setting and its bounds: `x0.5` multiplies, `by -0.01` shifts and `to 1e-4` sets the value;
`1e-5..1e-2` are bounds.

A schedule is changed at its highest value, and the whole curve is scaled along with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gymnast.config.numbers import Share, format_number, parse_number, quote_value
from gymnast.config.parsed_value import ParsedValue
from gymnast.config.schedule import Schedule

_FORMS = "x0.5 to multiply, `by 0.01` or `by -0.01` to shift, `to 1e-4` to set"


@dataclass(frozen=True)
class Bounds(ParsedValue):
    low: float
    high: float

    @classmethod
    def parse(cls, value: object) -> Bounds:
        """Returns the bounds for a text such as `1e-5..1e-2`; Bounds are returned as they are. Raises
        ValueError for another text, or if LOW is not below HIGH."""
        if isinstance(value, Bounds):
            return value
        low, dots, high = str(value).partition("..")
        if not dots:
            raise ValueError(
                f"{quote_value(value)} is not a range (expected LOW..HIGH such as 1e-5..1e-2)"
            )
        bounds = cls(parse_number(low), parse_number(high))
        if not bounds.low < bounds.high:
            raise ValueError(f"{quote_value(value)} is reversed (expected LOW..HIGH)")
        return bounds

    def clip(self, number: float) -> float:
        return min(max(number, self.low), self.high)

    def __str__(self) -> str:
        return f"{format_number(self.low)}..{format_number(self.high)}"


@dataclass(frozen=True)
class Change(ParsedValue):
    factor: float | None = None
    amount: float | None = None
    value: str | None = None
    """Exactly one of the three is set: multiply by `factor`, shift by `amount`, or set to `value`."""

    @classmethod
    def parse(cls, value: object) -> Change:
        """Returns the change for a text such as `x0.5`, `by -0.01` or `to 1e-4`; a Change is returned as it
        is. The value after `to` stays text, which the changed setting validates later. Raises ValueError for
        another text, or for a change without an effect."""
        if isinstance(value, Change):
            return value
        text = value.strip() if isinstance(value, str) else ""
        verb, _, rest = text.partition(" ")
        if text.startswith("x"):
            factor = parse_number(text[1:])
            if factor <= 0 or factor == 1:
                raise ValueError(
                    f"{text} is not a valid factor (expected a factor above 0 other than 1)"
                )
            return cls(factor=factor)
        if verb == "by":
            amount = parse_number(rest)
            if amount == 0:
                raise ValueError(f"`{text}` changes nothing (expected a number other than 0)")
            return cls(amount=amount)
        if verb == "to" and rest.strip():
            return cls(value=rest.strip())
        # A bare number is ambiguous: YAML reads +0.01 as 0.01.
        raise ValueError(f"{quote_value(value)} is not a change (expected {_FORMS})")

    @property
    def is_relative(self) -> bool:
        return self.value is None

    def apply(self, setting: object, bounds: Bounds | None) -> float | str | Schedule:
        """Returns the value of a setting after this change: the same value if the bounds allow no further
        change. `setting`: the current value; `bounds`: None for a change `to` a value, which needs none.
        Raises ValueError if the setting is not a number."""
        if self.value is not None:
            return self.value
        assert bounds is not None  # rule_conflicts rejects a relative change without bounds
        if isinstance(setting, Schedule):
            return self._change_schedule(setting, bounds)
        # bool is an int in Python, and a Share is a float; neither is a plain number to scale.
        if isinstance(setting, bool | Share) or not isinstance(setting, int | float):
            current = "off" if setting is None else str(setting)
            raise ValueError(f"is {current}, which is not a number (set it with `to ...`)")
        wanted = self._changed(setting)
        if isinstance(setting, int):
            # Round away from the old value, so that x1.1 of 4 is 5 and not 4 forever. The inner round
            # keeps float error from adding a whole step: 10 * 1.1 is 11.000000000000002.
            wanted = (math.ceil if wanted > setting else math.floor)(round(wanted, 9))
        reached = _bounded(setting, wanted, bounds)
        return int(reached) if isinstance(setting, int) else reached

    def _changed(self, number: float) -> float:
        """Returns the number after this relative change, before bounds."""
        return number * self.factor if self.factor is not None else number + (self.amount or 0.0)

    def _change_schedule(self, schedule: Schedule, within: Bounds) -> Schedule:
        """Returns the schedule scaled so that its highest value is changed as far as the bounds allow; the
        same schedule if they allow no change."""
        current = schedule.highest
        wanted = self._changed(current)
        reached = _bounded(current, wanted, within)
        if reached == current:
            return schedule
        if self.factor is not None and reached == wanted:
            # Exact: with_highest would divide by the old peak and multiply again, which rounds.
            return schedule.scaled(self.factor)
        return schedule.with_highest(reached)

    def __str__(self) -> str:
        if self.factor is not None:
            return f"x{format_number(self.factor)}"
        return f"to {self.value}" if self.amount is None else f"by {format_number(self.amount)}"


def _bounded(current: float, wanted: float, within: Bounds) -> float:
    """Returns the value closest to `wanted` within the bounds. A current value outside of the bounds is kept
    if clipping would move it in the opposite direction."""
    reached = within.clip(wanted)
    # With lr = 1e-2 and bounds 1e-5..1e-3, `x2` must not drop the rate to 1e-3.
    same_direction = (reached - current) * (wanted - current) > 0
    return reached if same_direction and not math.isclose(reached, current) else current
