"""Schedules of hyperparameters: `3e-4`, `3e-4 -> 0`, `0.2 -> 0.05 @ 10%..80% cosine`.

A schedule is a list of key frames (position, value) and the shape of the interpolation between them. The
value is constant before the first frame and after the last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from gymnast.clock import CLOCKS, UNIT_NAMES, UNITS, Clock
from gymnast.config.numbers import (
    format_count,
    format_number,
    is_percent,
    parse_number,
    parse_percent,
    quote_value,
)
from gymnast.config.parsed_value import ParsedValue
from gymnast.errors import ConfigError

SHAPES = ("linear", "cosine", "exponential")
WARMUP_START = 0.1
"""Share of the value at the start of a warm-up. With 0, the first rollout would be collected for nothing."""


@dataclass(frozen=True)
class Position:
    """A position on a clock: a reading (`20k`), or a percentage of the budget (`10%`)."""

    amount: float
    percent: bool = False

    @classmethod
    def parse(cls, value: object) -> Position:
        """Returns the position for a number, or for a text such as `20k` or `10%`. Raises ValueError if it is
        negative or above 100%."""
        percent = is_percent(value)
        amount = parse_percent(value) if percent else parse_number(value)
        if amount < 0 or (percent and amount > 100):
            raise ValueError(
                f"position {quote_value(value)} is out of range (expected 0%..100%, or 200k)"
            )
        return cls(amount, percent and amount > 0)  # 0% is 0 even without a budget

    def scale(self, factor: float) -> Position:
        """Returns the same position on a clock that runs `factor` times as fast; minutes -> seconds."""
        return self if self.percent else Position(self.amount * factor)

    def reading(self, total: float) -> float:
        """Returns the reading of the clock at this position, for a budget of `total`."""
        return self.amount / 100 * total if self.percent else self.amount

    def __str__(self) -> str:
        return f"{format_number(self.amount)}%" if self.percent else format_count(self.amount)


@dataclass(frozen=True)
class Schedule(ParsedValue):
    frames: tuple[tuple[Position, float], ...]
    """Key frames (position, value), with increasing positions."""
    shape: str = "linear"
    """Interpolation between key frames: one of SHAPES."""
    warmup: Position | None = None
    """Up to this position the value is scaled up linearly, from a tenth of the value to the full value."""
    floor: float | None = None
    """Lower bound of the value, also during the warm-up."""
    clock: str | None = None
    """Clock of the positions. None: the clock of the main budget."""

    @classmethod
    def constant(cls, value: float) -> Schedule:
        return cls(((Position(0), float(value)),))

    @classmethod
    def parse(cls, value: object) -> Schedule:
        """Parses a number, a text or a mapping."""
        if isinstance(value, Schedule):
            return value
        if isinstance(value, Mapping):
            return _from_mapping(value)
        if isinstance(value, str):
            return _from_text(value)
        return cls.constant(parse_number(value))

    def __post_init__(self) -> None:
        """Raises ValueError for positions that do not increase or mix percentages and readings, for an
        unknown shape or clock, and for an exponential curve that reaches or crosses 0."""
        positions = [p for p, _ in self.frames]
        if len(self.frames) == 1 and self.frames[0][0] != Position(0):
            raise ValueError("a single key frame is a constant (write just the value)")
        if len({p.percent for p in positions if p.amount}) > 1:
            raise ValueError("percentages and absolute positions are mixed (use one kind)")
        amounts = [p.amount for p in positions]
        if any(b <= a for a, b in pairwise(amounts)):
            raise ValueError(f"positions must increase ({', '.join(map(str, positions))})")
        if math.inf in amounts or (self.warmup and self.warmup.amount == math.inf):
            raise ValueError("a position is too large (expected a position such as 200k)")
        if self.shape not in SHAPES:
            raise ValueError(f"unknown shape {self.shape} (expected one of {', '.join(SHAPES)})")
        if self.clock is not None and self.clock not in CLOCKS:
            raise ValueError(
                f"unknown clock {self.clock} (expected one of {', '.join(UNIT_NAMES)})"
            )
        if self.shape == "exponential" and len({v > 0 for _, v in self.frames if v}) > 1:
            raise ValueError("exponential cannot cross 0")
        if self.shape == "exponential" and any(v == 0 for _, v in self.frames):
            raise ValueError("exponential never reaches 0 (end at a small value such as 1e-6)")

    @property
    def is_constant(self) -> bool:
        return len(self.frames) == 1 and self.warmup is None

    @property
    def lowest(self) -> float:
        return self._floored(min(v for _, v in self.frames))

    @property
    def highest(self) -> float:
        return self._floored(max(v for _, v in self.frames))

    def scaled(self, factor: float) -> Schedule:
        """Returns the same curve with all values multiplied by `factor`."""
        frames = tuple((position, value * factor) for position, value in self.frames)
        return replace(
            self, frames=frames, floor=None if self.floor is None else self.floor * factor
        )

    def with_highest(self, value: float) -> Schedule:
        """Returns the same curve, scaled so that its highest value is `value`. Raises ValueError if the
        highest value is 0 and the schedule is not constant."""
        if self.highest == 0:
            if len(self.frames) == 1:
                return replace(self, frames=((self.frames[0][0], value),))
            raise ValueError(f"`{self}` has 0 as its highest value, which cannot be scaled")
        scaled = self.scaled(value / self.highest)
        # Set the peak itself: (highest * (value / highest)) may differ from value in the last digit, and a
        # value just above its bound would be rejected.
        exact = tuple(
            (position, value if before == self.highest else after)
            for (position, after), (_, before) in zip(scaled.frames, self.frames, strict=True)
        )
        return replace(scaled, frames=exact)

    def required_budget(self, main: str) -> str | None:
        """Returns the clock on which a budget must be set because positions are percentages, or None. `main`:
        the clock of the main budget."""
        positions = [p for p, _ in self.frames] + [self.warmup or Position(0)]
        needs_budget = not self.is_constant and any(p.percent for p in positions)
        return (self.clock or main) if needs_budget else None

    def __call__(self, clock: Clock) -> float:
        """Returns the value at the current reading of the clock. Raises ConfigError if positions are
        percentages and the clock has no limit."""
        if self.is_constant:
            return self._floored(self.frames[0][1])
        name = self.clock or clock.main_clock
        total = clock.limit(name)
        if total is None and self.required_budget(clock.main_clock):
            raise ConfigError(f"`{self}` needs a budget on {name}", fix=f"set a limit on {name}")
        now = clock.read(name)
        value = self._between_frames(now, total or 0.0)
        # The warm-up scales the curve instead of replacing it, so a decay continues underneath.
        ramp = self.warmup.reading(total or 0.0) if self.warmup else 0.0
        if now < ramp:
            value *= WARMUP_START + (1 - WARMUP_START) * now / ramp
        return self._floored(value)

    def _between_frames(self, now: float, total: float) -> float:
        """Returns the interpolated value at the reading `now`, before warm-up and floor. `total`: the budget
        that percentages refer to."""
        frames = [(p.reading(total), v) for p, v in self.frames]
        for (start, a), (end, b) in pairwise(frames):
            if now < end:
                return a if now <= start else _mix(self.shape, a, b, (now - start) / (end - start))
        return frames[-1][1]

    def _floored(self, value: float) -> float:
        return value if self.floor is None else max(value, self.floor)

    def __str__(self) -> str:
        """Returns the canonical text, which parses to the same schedule."""
        percent = any(p.percent for p, _ in self.frames)
        # Position.parse stores 0% as the absolute 0; it is written back like the other positions.
        at = ["0%" if percent and not p.amount else str(p) for p, _ in self.frames]
        values = [format_number(v) for _, v in self.frames]
        if len(values) > 2:
            parts = ["{" + ", ".join(f"{p}: {v}" for p, v in zip(at, values, strict=True)) + "}"]
        else:
            parts = [" -> ".join(values)]
        if self.shape != "linear":
            parts.append(self.shape)
        if len(values) == 2 and at != ["0%", "100%"]:
            parts.append(f"@ {at[0]}..{at[1]}")
        options = {"warmup": self.warmup, "floor": self.floor, "clock": self.clock}
        for name, option in options.items():
            if option is not None:
                parts.append(f"{name} {format_number(option) if name == 'floor' else option}")
        return " ".join(parts)

    def to_plain(self) -> float | str:
        """Returns the value as stored in a config file: a number if constant, else the text."""
        value = self.frames[0][1]
        return value if self == Schedule.constant(value) else str(self)


class IntSchedule(Schedule):
    """A schedule of a count: the interpolated value is rounded to a whole number and is at least 1."""

    def __post_init__(self) -> None:
        whole = tuple((position, float(_count(value))) for position, value in self.frames)
        object.__setattr__(self, "frames", whole)  # a rule may have scaled them to fractions
        super().__post_init__()

    def __call__(self, clock: Clock) -> int:
        return _count(super().__call__(clock))


def _count(value: float) -> int:
    return max(1, round(value))


def lowest(value: float | Schedule) -> float:
    """Returns the smallest value that a hyperparameter takes during a run."""
    return value.lowest if isinstance(value, Schedule) else value


def highest(value: float | Schedule) -> float:
    """Returns the largest value that a hyperparameter takes during a run."""
    return value.highest if isinstance(value, Schedule) else value


def is_schedule_text(text: str) -> bool:
    """True if a text is meant as a schedule rather than a single value."""
    return "->" in text or "{" in text or _FIRST_OPTION.search(text) is not None


def _mix(shape: str, a: float, b: float, t: float) -> float:
    """Interpolates from a (t = 0) to b (t = 1) with one of SHAPES, clipped to the interval between them."""
    if shape == "cosine":
        # SGDR (Loshchilov & Hutter 2017), eq. 5, without restarts
        value = b + (a - b) * (1 + math.cos(math.pi * t)) / 2
    elif shape == "exponential":
        value = a * (b / a) ** t
    else:
        value = a + (b - a) * t
    # Rounding may leave the interval by one unit in the last place, e.g. below a learning rate of 0.
    return min(max(value, min(a, b)), max(a, b))


_OPTION = re.compile(
    r"\s*(?:(?P<shape>linear|cosine|exponential)|@\s*(?P<start>[^\s.]\S*?)\s*\.\.\s*(?P<end>\S+)"
    r"|warmup\s+(?P<warmup>\S+)|floor\s+(?P<floor>\S+)|clock\s+(?P<clock>\S+))(?=\s|$)"
)
_FIRST_OPTION = re.compile(r"(?=@|\b(?:linear|cosine|exponential|warmup|floor|clock)\b)")
_OPTIONS = ("shape", "warmup", "floor", "clock")
_EXAMPLE = "`3e-4`, `3e-4 -> 0 cosine` or `0.2 -> 0.05 @ 10%..80% warmup 5%`"


def _from_text(text: str) -> Schedule:
    """Parses the text notation: the curve, then its options in any order."""
    curve, *rest = _FIRST_OPTION.split(text, maxsplit=1)
    form: dict[str, object] = {}
    if curve.lstrip().startswith("{"):
        points, _, unclear = curve.partition("}")
        pairs = (pair.partition(":") for pair in points.strip(" {,").split(","))
        form["points"] = {position.strip(): value.strip() for position, _, value in pairs}
    else:
        start, arrow, end = curve.partition("->")
        form = {"from": start, "to": end} if arrow else {"value": start}
        unclear = " ".join([*start.split()[1:], *end.split()[1:]])
    if unclear.strip():
        raise _unclear(unclear)
    options, at = "".join(rest).rstrip(), 0
    while at < len(options):
        match = _OPTION.match(options, at)
        option = {k: v for k, v in match.groupdict().items() if v} if match else {}
        # Not an option, one that was given before, or a range `@ start..end` without an arrow.
        if match is None or option.keys() & form.keys() or ("start" in option and "to" not in form):
            raise _unclear(options[at:])
        form |= option
        at = match.end()
    return _from_form(form)


def _unclear(text: str) -> ValueError:
    """Returns the error for a part of a schedule that cannot be read."""
    return ValueError(
        f"`{text.strip()}` is not understood (expected {_EXAMPLE}; the shapes are {', '.join(SHAPES)})"
    )


def _from_mapping(mapping: Mapping[object, object]) -> Schedule:
    """Parses `{from: .., to: ..}`, `{points: {..}}`, or the key frames themselves."""
    form = {str(key): value for key, value in mapping.items()}
    if not form.keys() & {"from", "to", "points"}:
        return _from_form({"points": form})
    curve = ("points",) if "points" in form else ("from", "to", "start", "end")
    for key in form:
        if key not in (*curve, *_OPTIONS):
            known = ", ".join((*curve, *_OPTIONS))
            raise ValueError(f"unknown key `{key}` in a schedule (known: {known})")
    if "points" not in form and not form.keys() >= {"from", "to"}:
        raise ValueError("is incomplete (a schedule goes `from` a value `to` another)")
    return _from_form(form)


def _from_form(form: Mapping[str, object]) -> Schedule:
    """Builds a schedule from the parts that the text and the mapping notation share: `value`, or `points`, or
    `from` and `to` with optional `start` and `end`; and the options `shape`, `warmup`, `floor`, `clock`."""
    if "value" in form:
        frames = Schedule.constant(_value(form["value"])).frames
    elif "points" in form:
        frames = _key_frames(form["points"])
    else:
        positions = (form.get("start", "0%"), form.get("end", "100%"))
        frames = _key_frames(dict(zip(positions, (form["from"], form["to"]), strict=True)))
    warmup = Position.parse(form["warmup"]) if "warmup" in form else None
    clock = str(form["clock"]) if "clock" in form else None
    if clock in UNITS:  # `clock minutes`: positions are stored on the clock's own unit, seconds
        clock, factor = UNITS[clock]
        frames = tuple((position.scale(factor), value) for position, value in frames)
        warmup = warmup.scale(factor) if warmup else None
    return Schedule(
        frames,
        shape=str(form.get("shape", "linear")),
        warmup=warmup,
        floor=_value(form["floor"]) if "floor" in form else None,
        clock=clock,
    )


def _key_frames(points: object) -> tuple[tuple[Position, float], ...]:
    """Returns the key frames for a mapping position -> value, which needs two or more entries."""
    if not isinstance(points, Mapping) or len(points) < 2:
        raise ValueError("needs two or more key frames (such as {0%: 1e-3, 100%: 0})")
    return tuple((Position.parse(p), _value(v)) for p, v in points.items())


def _value(value: object) -> float:
    """Returns a value of the curve, or its floor, as a number. Raises ValueError for `off` and other text."""
    if isinstance(value, str) and value.strip() == "off":
        raise ValueError(
            "`off` cannot be part of a schedule "
            "(write a number, or switch it off during training: gymnast set)"
        )
    return parse_number(value)
