"""Trials of a search, answered from the table and charged as if they were trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.hpo.grid import BUDGET, EVERY, POINTS
from gymnast.sweep.objective import Objective


class BudgetSpent(Exception):
    """A trial needs more env steps than are left."""


@dataclass
class Replay:
    """One search on one task."""

    curves: np.ndarray
    """Mean returns, [configuration, seed, point], of the seeds that searches see."""
    progress: np.ndarray
    """The objective up to each evaluation, of the same shape."""
    budget: int
    """Env steps of the whole search."""
    spent: int = 0

    def train(self, configuration: int, seed: int, *, since: int = 0, until: int = BUDGET) -> float:
        """Returns the objective of a training after `until` env steps, at its last evaluation. `since`: env
        steps that it was trained before; only what follows costs. Raises BudgetSpent if that is more than is
        left."""
        if self.spent + until - since > self.budget:
            raise BudgetSpent
        self.spent += until - since
        return float(
            self.progress[configuration, seed % self.progress.shape[1], until // EVERY - 1]
        )

    def points(self, configuration: int, seed: int, until: int) -> list[tuple[float, float]]:
        """Returns an evaluation curve up to `until` env steps: env steps, mean return."""
        returns = self.curves[configuration, seed % self.curves.shape[1], : until // EVERY]
        return [((at + 1) * EVERY, float(one)) for at, one in enumerate(returns)]


def progress_of(curves: np.ndarray, objective: Objective) -> np.ndarray:
    """Returns the objective of curves [..., point] up to each of their points."""
    steps = [(point + 1) * EVERY for point in range(POINTS)]
    flat = curves.reshape(-1, POINTS).astype(float)
    found = np.empty_like(flat)
    for row, curve in enumerate(flat.tolist()):
        points = list(zip(steps, curve, strict=True))
        for at, horizon in enumerate(steps):
            value = objective.value(points[: at + 1], horizon, budget=steps[-1])
            assert value is not None  # evaluations of the table are finite
            found[row, at] = value
    return found.reshape(curves.shape)
