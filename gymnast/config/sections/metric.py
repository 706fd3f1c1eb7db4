"""A number of the user's own, taken from the environment's info."""

from __future__ import annotations

from typing import Literal

from gymnast.config.numbers import Whole
from gymnast.config.section import Section


class MetricConfig(Section):
    source: str
    """Key of the info dictionary it is read from."""
    description: str
    """What it says."""
    unit: str = ""
    """Its unit; empty for a pure number."""
    better: Literal["higher", "lower", ""] = ""
    """Which direction is an improvement; empty where neither is."""
    digits: Whole = 3
    """Digits shown after the point."""
