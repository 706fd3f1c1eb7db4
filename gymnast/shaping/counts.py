"""A count-based exploration bonus (MBIE-EB, Strehl and Littman 2008)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gymnast.errors import ConfigError
from gymnast.shaping.steps import ObsBatch, Steps, TermContext
from gymnast.spaces.observations import DiscreteObs

Array = np.ndarray
MAX_CELLS = 10_000_000
"""Maximum number of cells. The counts are stored in every checkpoint, 8 bytes each."""


class Counts:
    """Pays 1 / sqrt(n) for reaching a state for the n-th time in this run; terminal states do not count.

    A Discrete observation is the state itself. A vector is assigned to a cell of a grid with `bins` bins
    per component, over the ranges in `facts.observations`; `components` selects some of them.
    """

    def __init__(
        self, context: TermContext, bins: int = 40, components: Sequence[str] | None = None
    ) -> None:
        self._first, cells = 0, 0
        self._parts: list[tuple[str, float, float]] = []
        self._bins = bins
        if isinstance(context.obs, DiscreteObs):
            self._first, cells = context.obs.first, context.obs.n
        else:
            self._parts = _ranges(context, components)
            cells = bins ** len(self._parts)
        if not 2 <= cells <= MAX_CELLS:
            what = f"{bins} bins of {len(self._parts)} components are {cells:,} cells"
            raise ConfigError(
                f"{what} (expected 2 to {MAX_CELLS:,}; use fewer bins, or components: [...])"
            )
        self.memory = {"visits": np.zeros(cells, dtype=np.int64)}

    def __call__(self, steps: Steps) -> Array:
        bonus = np.zeros(steps.reward.shape)
        counted = steps.valid & ~steps.terminated
        cell = self._cell(steps.next_obs)[counted]  # [T, N] flattened: in order of time
        bonus[counted] = 1 / np.sqrt(self._visit(cell))
        return bonus

    def _cell(self, obs: ObsBatch) -> Array:
        """Returns the index of the cell that contains each observation, [T, N]."""
        if not self._parts:
            return obs.rows - self._first
        cell = np.zeros(obs.rows.shape[:2], dtype=np.int64)
        for name, low, high in self._parts:
            # Values outside of the declared range belong to the outermost bins.
            share = (obs[name] - low) / (high - low)
            place = np.clip(np.nan_to_num(share) * self._bins, 0, self._bins - 1)
            cell = cell * self._bins + place.astype(np.int64)  # digits of a number in base `bins`
        return cell

    def _visit(self, cell: Array) -> Array:
        """Counts visits of these cells, [k] in order of time, and returns for each which visit of its cell it
        is (1 for the first)."""
        visits = self.memory["visits"]
        # within one rollout a cell may occur several times: `rank` counts its earlier occurrences
        order = np.argsort(cell, kind="stable")
        sorted_cells = cell[order]
        rank = np.arange(len(cell)) - np.searchsorted(sorted_cells, sorted_cells)
        number = np.empty(len(cell), dtype=np.int64)
        number[order] = visits[sorted_cells] + rank + 1
        np.add.at(
            visits, cell, 1
        )  # unlike `visits[cell] += 1`, it counts repeated cells repeatedly
        return number


def _ranges(
    context: TermContext, components: Sequence[str] | None
) -> list[tuple[str, float, float]]:
    """Returns name, low and high of each component to count. `components`: their names, None for all that are
    declared. Raises ConfigError for one without a finite range."""
    declared = {part.name: (part.low, part.high) for part in context.components}
    names = list(declared) if components is None else list(components)
    unknown = [name for name in names if name not in declared]
    if not names:
        raise ConfigError(
            "there is nothing to count: no components of the observation are declared or selected",
            fix="declare them with their ranges in facts.observations",
        )
    if unknown:
        known = ", ".join(declared) or "none"
        raise ConfigError(
            f"{', '.join(unknown)} cannot be counted: not in facts.observations (declared: {known})"
        )
    unbounded = [name for name in names if not all(map(math.isfinite, declared[name]))]
    if unbounded:
        what = f"{', '.join(unbounded)} cannot be counted: facts.observations gives no finite range"
        raise ConfigError(f"{what} (select others with components: [...])")
    return [(name, *declared[name]) for name in names]
