"""The details of an event of a run as text, for `gymnast show`, reports, the console and the log."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import cast

from gymnast.clock import CLOCKS
from gymnast.text.formatting import change, interval

_OMITTED = {"kind", "time", "id", "traceback", "reason_kind", *CLOCKS}
"""Fields that are shown elsewhere, or repeat another field for programs."""


def event_detail(event: Mapping[str, object]) -> str:
    """Returns the fields of an event as text: `version 20000, score 500.0 [500.0, 500.0]`. A `message`
    replaces all other fields."""
    if message := event.get("message"):
        return str(message)
    parts: list[str] = []
    for key, value in event.items():
        # The reason for the end of training is a clause that needs no label.
        label = "" if key == "reason" and "reason_kind" in event else f"{key} "
        if key not in _OMITTED:
            parts.append(f"{label}{_value_text(value)}")
    return ", ".join(parts)


def _value_text(value: object) -> str:
    """Returns the value of one field: changes of settings and scores in their own form, a list of such
    separated by semicolons, floats with six significant digits."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        if items and all(isinstance(item, Mapping) for item in items):
            return "; ".join(map(_value_text, items))
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        if {"key", "from", "to"} == fields.keys():
            return change(fields)
        mean, low, high = (fields.get(name) for name in ("mean", "low", "high"))
        if isinstance(mean, Real) and isinstance(low, Real) and isinstance(high, Real):
            return interval(float(mean), float(low), float(high))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
