"""Parameters of a search space: a range of numbers or a list of choices, with the condition for using it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gymnast.config.plain_value import PlainValue

Assignment = Mapping[str, PlainValue]
"""Name of each active parameter -> its value."""
SIGNIFICANT_DIGITS = 6
"""Digits of a proposed number. More would not be reproducible by a person who copies it."""
UNBOUNDED = 1_000_000
"""Number of values that a range without steps counts as."""


@dataclass(frozen=True)
class Range:
    """Numbers between two bounds, both included."""

    name: str
    low: float
    high: float
    log: bool = False
    """Whether the logarithm is searched, so that every order of magnitude is as likely."""
    step: float | None = None
    """Distance between two values, counted from `low`; None if every number is allowed."""
    whole: bool = False
    """Whether the values are whole numbers."""
    when: Mapping[str, Sequence[PlainValue]] = field(
        default_factory=dict[str, Sequence[PlainValue]]
    )
    """Other parameter -> the values of it with which this one is used."""

    @property
    def size(self) -> int:
        """The number of different values, UNBOUNDED if it is not limited by steps."""
        step = self.step or (1.0 if self.whole else None)
        return UNBOUNDED if step is None else math.floor((self.high - self.low) / step + 1e-9) + 1

    def from_unit(self, share: float) -> PlainValue:
        """Returns the value at a share from 0 to 1 of the range."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return self.nearest(math.exp(low + share * (high - low)))
        if self.size < UNBOUNDED:  # every value has the same share
            step = self.step or 1.0
            return self.nearest(self.low + step * min(int(share * self.size), self.size - 1))
        return self.nearest(self.low + share * (self.high - self.low))

    def to_unit(self, value: PlainValue) -> float:
        """Returns the share from 0 to 1 of the range at which a value is."""
        number = float(value) if isinstance(value, int | float) else self.low
        low, high = self.low, self.high
        if self.log:
            low, high, number = math.log(low), math.log(high), math.log(max(number, 1e-300))
        return 0.0 if high == low else min(max((number - low) / (high - low), 0.0), 1.0)

    def nearest(self, number: float) -> int | float:
        """Returns the allowed value that is closest to a number."""
        step = self.step or (1.0 if self.whole else None)
        if step is not None:
            number = self.low + round((number - self.low) / step) * step
            number = min(number, self.low + (self.size - 1) * step)
        number = min(max(float(f"{number:.{SIGNIFICANT_DIGITS}g}"), self.low), self.high)
        return round(number) if self.whole else number

    def values(self) -> list[PlainValue] | None:
        """Returns every value in order; None if there are too many."""
        if self.size == UNBOUNDED:
            return None
        step = self.step or 1.0
        return [self.nearest(self.low + i * step) for i in range(self.size)]

    def extremes(self) -> list[PlainValue]:
        """Returns the values that must be valid for all of them to be."""
        ends: list[PlainValue] = [self.nearest(self.low), self.nearest(self.high)]
        # A setting of whole numbers accepts bounds such as 1.0 and 8.0, but nothing between them.
        return ends if self.whole else [*ends, self.from_unit(0.4)]

    def accepts(self, value: PlainValue) -> bool:
        """True if a value lies in the range."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high and not (self.whole and value % 1)


@dataclass(frozen=True)
class Choices:
    """A list of values: numbers, words, lists, schedules."""

    name: str
    choices: Sequence[PlainValue]
    when: Mapping[str, Sequence[PlainValue]] = field(
        default_factory=dict[str, Sequence[PlainValue]]
    )
    """Other parameter -> the values of it with which this one is used."""

    @property
    def size(self) -> int:
        return len(self.choices)

    @property
    def is_ordered(self) -> bool:
        """True if the choices are increasing numbers, so that neighbors are similar."""
        numbers = [
            c for c in self.choices if isinstance(c, int | float) and not isinstance(c, bool)
        ]
        return len(numbers) == len(self.choices) and numbers == sorted(numbers)

    def from_unit(self, share: float) -> PlainValue:
        """Returns the value at a share from 0 to 1 of the list."""
        return self.choices[min(int(share * self.size), self.size - 1)]

    def to_unit(self, value: PlainValue) -> float:
        """Returns the share from 0 to 1 of the list at which a value is."""
        return list(self.choices).index(value) / max(self.size - 1, 1)

    def values(self) -> list[PlainValue]:
        """Returns every value."""
        return list(self.choices)

    def extremes(self) -> list[PlainValue]:
        """Returns the values that must be valid for all of them to be."""
        return list(self.choices)

    def accepts(self, value: PlainValue) -> bool:
        """True if a value is one of the choices."""
        return value in self.choices


Parameter = Range | Choices


def is_active(parameter: Parameter, assignment: Assignment) -> bool:
    """True if a parameter is used with the values that the parameters before it have."""
    return all(
        other in assignment and assignment[other] in values
        for other, values in parameter.when.items()
    )
