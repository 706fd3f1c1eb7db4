"""Parses and formats numbers as people write them: `1e-3`, `50k`, `2M`, `25%`, `on`, `off`.

Parsing uses Decimal, so that the text survives a round trip: `7%` is exactly 0.07 and is printed as `7%`
again.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, TypeGuard, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    ValidatorFunctionWrapHandler,
    WrapSerializer,
    WrapValidator,
)

from gymnast.config.parsed_value import ParsedValue
from gymnast.config.plain_value import PlainValue

SUFFIXES = {"k": 3, "M": 6, "G": 9}
"""Letter -> power of ten."""

FLOAT32_LIMIT = 1e30
"""Upper bound for numbers that are combined with float32 arrays, where larger ones could become infinite."""

OFF: Any = "off"
"""Default of a field that is off unless the user sets it."""


def parse_number(value: object) -> float:
    """Returns a finite number, from a number or its text."""
    number = parse_bound(value)
    if not math.isfinite(number):
        raise ValueError(f"{quote_value(value)} is not finite (expected {_NUMBER})")
    return number


def parse_bound(value: object) -> float:
    """Returns a number that may be infinite: `-inf`, `inf`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return float(_decimal(value, _NUMBER))


def parse_whole(value: object) -> int:
    """Returns a whole number, 0 or more; `1e5` is accepted, `0.5` is not."""
    return _whole(value, 0, "a whole number from 0")


def parse_count(value: object) -> int:
    """Returns a whole number, 1 or more."""
    return _whole(value, 1, _COUNT)


def parse_switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in _SWITCH:
        return _SWITCH[value]
    raise ValueError(f"{quote_value(value)} is not a switch (expected on or off)")


def is_percent(value: object) -> TypeGuard[str]:
    """True for a text that ends in `%`."""
    return isinstance(value, str) and value.rstrip().endswith("%")


def parse_percent(value: str) -> float:
    """Returns 7.0 for `7%`."""
    return float(_decimal(value.rstrip().removesuffix("%").rstrip(), "a percentage such as 25%"))


def format_number(number: float) -> str:
    """Returns the shortest text that parses to the same number."""
    text = repr(float(number))  # Python's repr is the shortest text that reads back exactly
    if "e" in text:
        digits, power = text.split("e")
        return f"{digits.removesuffix('.0')}e{int(power)}"
    return text.removesuffix(".0")


def format_count(number: float) -> str:
    """Returns `20k` for 20000, or the plain number if a suffix would lose digits."""
    for suffix, power in reversed(SUFFIXES.items()):
        if number >= 10**power and number % 10 ** (power - 1) == 0:
            return f"{format_number(number / 10**power)}{suffix}"
    return format_number(number)


def quote_value(value: object) -> str:
    """Returns a value as error messages quote it, shortened to about 60 characters."""
    text = "nothing" if value is None else value if isinstance(value, str) else repr(value)
    return f"{text[:60]}..." if len(text) > 63 else text or "''"


class Share(ParsedValue, float):
    """A share between 0 and 1, written `25%`. The type distinguishes it from a plain number."""

    @classmethod
    def parse(cls, value: object) -> Share:
        """Returns the share for a text such as `25%` or a number from 0 to 1; a Share is returned as it is.
        Raises ValueError for anything else."""
        if isinstance(value, Share):
            return value
        if is_percent(value):
            text = value.rstrip().removesuffix("%").rstrip()
            share = float(_decimal(text, _SHARE).scaleb(-2))  # 7 / 100 in floats is not 0.07
        else:
            share = float(_decimal(value, _SHARE))
        if not 0 <= share <= 1:
            raise ValueError(f"{quote_value(value)} is out of range (expected {_SHARE})")
        return cls(share)

    def __str__(self) -> str:
        return f"{Decimal(float.__repr__(self)).scaleb(2).normalize():f}%"

    __repr__ = __str__


def _count_or_share(value: object) -> int | Share:
    is_share = is_percent(value) or isinstance(value, Share)
    return Share.parse(value) if is_share else parse_count(value)


def _number_or_share(value: object) -> float | Share:
    is_share = is_percent(value) or isinstance(value, Share)
    return Share.parse(value) if is_share else parse_number(value)


def _plain_share(value: float) -> object:
    return str(value) if isinstance(value, Share) else value


def _off_or(value: object, inner: ValidatorFunctionWrapHandler) -> object:
    if isinstance(value, str) and value == "off":
        return None
    if value is None:  # `key:` without a value is usually a forgotten value, not a wish for None
        raise ValueError("is empty (write `off` to switch it off)")
    return inner(value)


def _without_nan(value: PlainValue) -> PlainValue:
    """Returns the value as it is. Raises ValueError if it is, or contains at any depth, a NaN."""
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("nan is not accepted (expected text, a number, a list or a mapping)")
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        _without_nan(inner)
    return value


T = TypeVar("T")
Count = Annotated[int, BeforeValidator(parse_count)]
Whole = Annotated[int, BeforeValidator(parse_whole)]
Number = Annotated[float, BeforeValidator(parse_number)]
Positive = Annotated[Number, Field(gt=0)]
Fraction = Annotated[Number, Field(ge=0, le=1)]
Bound = Annotated[float, BeforeValidator(parse_bound)]
Switch = Annotated[
    bool,
    BeforeValidator(parse_switch),
    PlainSerializer(lambda value: "on" if value else "off"),
]
PlainField = Annotated[JsonValue, AfterValidator(_without_nan)]
"""Type of keyword arguments of user code: text, numbers, lists and mappings. NaN is rejected, because it is
not equal to itself, so a config with NaN would never equal its stored copy."""
CountOrShare = Annotated[
    int | Share, PlainValidator(_count_or_share), PlainSerializer(_plain_share)
]
NumberOrShare = Annotated[
    float | Share, PlainValidator(_number_or_share), PlainSerializer(_plain_share)
]
Maybe = Annotated[
    T | None,
    WrapValidator(_off_or),
    WrapSerializer(lambda value, inner: "off" if value is None else inner(value)),
]
"""A value or `off`. An empty value is rejected."""

_LARGEST = 10**18  # below 2**63, so that a count fits into int64
_SWITCH = {"on": True, "true": True, "off": False, "false": False}
_NUMBER = "a number such as 3, 1e-3 or 50k"
_COUNT = "a whole number above 0 such as 64, 50k or 2M"
_SHARE = "a share from 0% to 100%"


def _whole(value: object, minimum: int, expected: str) -> int:
    """Returns the value as an int. Raises ValueError, which states what is `expected`, if it is not a whole
    number, is below `minimum` or is too large for int64."""
    number = _decimal(value, expected)
    if not number.is_finite() or abs(number) > _LARGEST:
        raise ValueError(f"{quote_value(value)} is too large (expected {expected})")
    if number != int(number):
        raise ValueError(f"{quote_value(value)} is not a whole number (expected {expected})")
    if number < minimum:
        raise ValueError(f"{quote_value(value)} is too small (expected {expected})")
    return int(number)


def _decimal(value: object, expected: str) -> Decimal:
    """Returns the exact decimal value of a number or its text, in which a suffix of SUFFIXES multiplies
    (`50k`). Infinity and NaN are accepted. Raises ValueError, which states what is `expected`, for anything
    else."""
    if value is None:
        raise ValueError(f"is empty (expected {expected})")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{quote_value(value)} is not a number (expected {expected})")
    # repr of a float is its shortest text, so Decimal sees 0.1 and not 0.1000000000000000055...
    text = value.strip() if isinstance(value, str) else repr(value)
    power = SUFFIXES.get(text[-1:], 0)
    try:
        return Decimal(text[:-1] if power else text).scaleb(power)
    except InvalidOperation:
        if "->" in text:
            raise ValueError(
                f"{quote_value(value)}: only hyperparameters of the algorithm and weights of shaping terms "
                f"can follow a schedule (expected {expected})"
            ) from None
        raise ValueError(f"{quote_value(value)} is not a number (expected {expected})") from None
