"""The details of an event of a run as text, for `gymnast show`, reports, the console and the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import cast

from gymnast.clock import CLOCKS
from gymnast.text.formatting import change, interval

_OMITTED = {"kind", "time", "id", "traceback", "reason_kind", "differs", *CLOCKS}
"""Fields that are shown elsewhere, or repeat another field for programs."""


def event_detail(event: Mapping[str, object]) -> str:
    """Returns the fields of an event as text: `version 20000, score 500.0 [500.0, 500.0]`. Fields that are
    empty or False are left out, and a field that is True is shown as its name alone. A `message` replaces
    all other fields."""
    if message := event.get("message"):
        return str(message)
    parts: list[str] = []
    for key, value in event.items():
        if key in _OMITTED or value is None or value is False or value in ("", [], {}):
            continue
        label = key.replace("_", " ")
        if value is True:
            parts.append(label)
        elif key == "reason" and "reason_kind" in event:
            # The reason for the end of training is a clause that needs no label.
            parts.append(_value_text(value))
        else:
            parts.append(f"{label} {_value_text(value)}")
    return ", ".join(parts)


def _value_text(value: object) -> str:
    """Returns the value of one field: changes of settings and scores in their own form, the items of a list
    separated by commas (mappings and sentences by semicolons), floats with six significant digits."""
    if isinstance(value, list | tuple):
        items = [*map(_value_text, cast("Sequence[object]", value))]
        return ("; " if any(" " in item for item in items) else ", ").join(items)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        if {"key", "from", "to"} == fields.keys():
            return change(fields)
        mean, low, high = (fields.get(name) for name in ("mean", "low", "high"))
        if isinstance(mean, Real) and isinstance(low, Real) and isinstance(high, Real):
            return interval(float(mean), float(low), float(high))
        return ", ".join(f"{key} {_value_text(inner)}" for key, inner in fields.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
