"""Types of plain values: what YAML and JSON files store, before validation and after serialization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Scalar: TypeAlias = bool | int | float | str | None
PlainValue: TypeAlias = "Scalar | Sequence[PlainValue] | PlainMapping"
PlainMapping: TypeAlias = "Mapping[str, PlainValue] | Mapping[Scalar, PlainValue]"
"""Keys are text in JSON and in a config. In YAML they can be any scalar, such as the positions of a
schedule."""
