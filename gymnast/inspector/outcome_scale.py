"""The outcome scale: the raw reward between a bad and a good outcome of an environment.

Returns of different environments cannot be compared, so lost return is judged as a share of this scale. Its
ends come from the facts of the preset where they say something, else from the run's own evaluations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gymnast.config.facts import Facts
from gymnast.runs.run import Run
from gymnast.runs.trace import read_episode_table

_LOW_PERCENTILE, _HIGH_PERCENTILE = 5.0, 95.0
"""Percentiles instead of the extremes: a single disaster must not stretch the scale."""


@dataclass(frozen=True)
class OutcomeScale:
    """The returns at both ends of the scale."""

    low: float
    high: float
    doc: str
    """A sentence that says where the ends come from."""

    @property
    def width(self) -> float:
        return self.high - self.low


def evaluation_returns(run: Run) -> list[float]:
    """Returns the raw returns of all stored evaluation episodes of a run."""
    files = sorted(run.traces.glob("eval-*.safetensors"))
    return [value for file in files for value in read_episode_table(file).raw_return]


def outcome_scale(facts: Facts, evaluated: list[float]) -> OutcomeScale | None:
    """Returns the scale; None if both ends are equal or nothing is known about one of them. `evaluated`:
    returns of the run's evaluation episodes.

    High end: the declared optimum or else the higher one of the threshold and the 95th percentile of the
    evaluated returns. Low end: the declared lowest return or else the 5th percentile."""
    low_source = high_source = "of the run's evaluations"
    low, high = -math.inf, -math.inf
    if evaluated:
        low, high = np.percentile(evaluated, [_LOW_PERCENTILE, _HIGH_PERCENTILE]).tolist()
        low_source, high_source = f"the 5th percentile {low_source}", f"the 95th {high_source}"
    if facts.returns is not None and math.isfinite(facts.returns[0]):
        low, low_source = facts.returns[0], "the lowest possible return"
    if facts.optimum is not None:
        high, high_source = facts.optimum, "the return of an optimal policy"
    elif facts.threshold is not None and facts.threshold > high:
        high, high_source = facts.threshold, "the threshold"
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return None
    doc = f"The scale goes from {low:g} ({low_source}) to {high:g} ({high_source})."
    return OutcomeScale(low, high, doc)


def scale_of_lines(returns: list[float]) -> OutcomeScale | None:
    """Returns the scale from the lowest to the highest return of the lines that were tried; None if all are
    equal."""
    low, high = min(returns, default=0.0), max(returns, default=0.0)
    if not low < high:
        return None
    return OutcomeScale(low, high, f"The scale is the range of all lines, {low:g} to {high:g}.")
