"""Running mean and variance of a stream of vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Moments:
    """Count, mean and variance of a stream of vectors, in float64. Immutable: `updated` returns new ones."""

    count: float
    mean: np.ndarray
    var: np.ndarray

    @classmethod
    def empty(cls, size: int) -> Moments:
        """Returns the moments of no vectors: mean 0 and variance 1 for each of `size` components."""
        return cls(0.0, np.zeros(size), np.ones(size))

    def updated(self, batch: np.ndarray) -> Moments:
        """Returns the moments updated with the rows of batch [B, size] (Chan et al. 1979)."""
        if len(batch) == 0:
            return self
        batch = batch.astype(np.float64)  # float32 sums lose precision over millions of steps
        n, mean, var = len(batch), batch.mean(0), batch.var(0)
        if self.count == 0:
            return Moments(float(n), mean, var)
        total = self.count + n
        shift = mean - self.mean
        # Squared deviations from the common mean: those within each set, and those between their means.
        squares = self.var * self.count + var * n + shift**2 * (self.count * n / total)
        return Moments(total, self.mean + shift * (n / total), squares / total)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation; 1 for components that do not vary, so that dividing by it is always defined."""
        return np.where(self.var > 1e-12, np.sqrt(self.var), 1.0)
