"""A bonus for where the agent has seldom been (MBIE-EB, Strehl and Littman 2008)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gymnast.errors import ConfigError
from gymnast.shaping.steps import Scene, Seen, Steps
from gymnast.spaces.observations import DiscreteObs

Array = np.ndarray
MOST = 10_000_000
"""Cells that may be counted."""


class Counts:
    """1 / sqrt(n) for reaching a state for the n-th time in this run; ends are not counted.

    A Discrete observation is a state; of a vector, the cell of a grid with `bins` per component over
    the range that facts declare, of all `components` or those named.
    """

    def __init__(
        self, scene: Scene, bins: int = 40, components: Sequence[str] | None = None
    ) -> None:
        self._first, cells = 0, 0
        self._parts: list[tuple[str, float, float]] = []
        self._bins = bins
        if isinstance(scene.obs, DiscreteObs):
            self._first, cells = scene.obs.first, scene.obs.n
        else:
            self._parts = _ranges(scene, components)
            cells = bins ** len(self._parts)
        if not 2 <= cells <= MOST:
            what = f"{bins} bins of {len(self._parts)} components are {cells:,} cells"
            raise ConfigError(f"{what} (expected 2 to {MOST:,}; fewer bins, or components: [...])")
        self.memory = {"visits": np.zeros(cells, dtype=np.int64)}

    def __call__(self, steps: Steps) -> Array:
        bonus = np.zeros(steps.reward.shape)
        reached = steps.valid & ~steps.terminated
        cell = self._cell(steps.after)[reached]  # in the order of time
        bonus[reached] = 1 / np.sqrt(self._visit(cell))
        return bonus

    def _cell(self, seen: Seen) -> Array:
        """Which one each observation is in, [T, N]."""
        if not self._parts:
            return seen.rows - self._first
        cell = np.zeros(seen.rows.shape[:2], dtype=np.int64)
        for name, low, high in self._parts:
            share = (seen[name] - low) / (high - low)
            place = np.clip(np.nan_to_num(share) * self._bins, 0, self._bins - 1)
            cell = cell * self._bins + place.astype(np.int64)
        return cell

    def _visit(self, cell: Array) -> Array:
        """The how-manieth visit of its cell each of these is; from then on they have happened."""
        visits = self.memory["visits"]
        order = np.argsort(cell, kind="stable")
        sorted_ = cell[order]
        rank = np.arange(len(cell)) - np.searchsorted(sorted_, sorted_)
        number = np.empty(len(cell), dtype=np.int64)
        number[order] = visits[sorted_] + rank + 1
        np.add.at(visits, cell, 1)
        return number


def _ranges(scene: Scene, components: Sequence[str] | None) -> list[tuple[str, float, float]]:
    declared = {part.name: (part.low, part.high) for part in scene.components}
    names = list(declared) if components is None else list(components)
    unknown = [name for name in names if name not in declared]
    if not names:
        raise ConfigError(
            "there is nothing to count: no numbers of the observation are declared or named",
            fix="declare them with their ranges under facts.observations",
        )
    if unknown:
        known = ", ".join(declared) or "none"
        raise ConfigError(
            f"{', '.join(unknown)} cannot be counted: not in facts.observations (declared: {known})"
        )
    open_ = [name for name in names if not all(map(math.isfinite, declared[name]))]
    if open_:
        what = f"{', '.join(open_)} cannot be counted, for facts.observations gives no finite range"
        raise ConfigError(f"{what} (name others in components: [...])")
    return [(name, *declared[name]) for name in names]
