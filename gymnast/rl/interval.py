"""A mean with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % confidence interval."""

    mean: float
    """The mean."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
