"""The time of a rollout as a function of the number of hosts.

    seconds(h) = fixed + work / h + message * h

`fixed`: the update and everything else that the training process does once per rollout; `work`: stepping the
env copies, which hosts divide; `message`: what the training process does per host. All are at least 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import inf, sqrt

import numpy as np


@dataclass(frozen=True)
class ScaleModel:
    """Seconds of a rollout, by part."""

    fixed: float
    """Seconds per rollout that do not depend on the hosts: the update."""
    work: float
    """Seconds of collecting in one process, which hosts divide."""
    message: float
    """Seconds per rollout and host: sending parameters, receiving and joining steps."""

    @classmethod
    def fit(cls, seconds: Mapping[int, float]) -> ScaleModel:
        """Returns the model with the smallest relative errors (least squares). `seconds`: number of hosts ->
        measured seconds of a rollout, at least three of them."""
        hosts = np.array(list(seconds), dtype=float)
        measured = np.array(list(seconds.values()))
        terms = np.stack([np.ones_like(hosts), 1 / hosts, hosts], axis=1) / measured[:, None]
        best, smallest = np.zeros(3), inf
        # Least squares without negative numbers: try every set of terms that are not 0.
        for used in product((False, True), repeat=3):
            chosen = np.flatnonzero(used)
            if not len(chosen):
                continue
            found = np.zeros(3)
            found[chosen] = np.linalg.lstsq(terms[:, chosen], np.ones(len(hosts)), rcond=None)[0]
            error = float(((terms @ found - 1) ** 2).sum())
            if found.min() >= 0 and error < smallest:
                best, smallest = found, error
        return cls(*best.tolist())

    def seconds(self, hosts: int, *, overlap: bool = False) -> float:
        """Returns the predicted seconds of a rollout. `overlap`: the update runs while hosts collect."""
        collecting = self.work / hosts + self.message * hosts
        return max(self.fixed, collecting) if overlap else self.fixed + collecting

    @property
    def best_hosts(self) -> float:
        """The number of hosts with the shortest rollouts: with more, their messages take longer than they
        save. Infinite if messages cost nothing."""
        return sqrt(self.work / self.message) if self.message else inf
