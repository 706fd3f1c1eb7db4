"""A user-defined metric, read from the environment's `info`."""

from __future__ import annotations

from typing import Literal

from gymnast.config.numbers import Whole
from gymnast.config.section import Section


class MetricConfig(Section):
    source: str
    """Key in the info dictionary of the last step of an episode."""
    description: str
    """Description of the metric."""
    unit: str = ""
    """Unit of the metric; empty for a dimensionless number."""
    better: Literal["higher", "lower", ""] = ""
    """Direction of an improvement; empty if neither direction is better."""
    digits: Whole = 3
    """Number of decimals shown."""
