"""A reward term that reads a number from the `info` of every step."""

from __future__ import annotations

import logging

import numpy as np

from gymnast.shaping.steps import Steps, TermContext

Array = np.ndarray
PATIENCE = 1_000
"""Number of steps after which a missing key causes a warning."""


class InfoTerm:
    """Pays `info[key]` of each step, 0 where the key is missing."""

    def __init__(self, context: TermContext, key: str) -> None:
        self._env, self._key = context.env.id, key
        self.memory = {"steps_without": np.zeros(1, dtype=np.int64)}
        """Number of steps so far without the key; -1 once a step had it or the warning was logged."""

    def __call__(self, steps: Steps) -> Array:
        if steps.info is None:
            return np.zeros(steps.reward.shape)
        values = steps.info[self._key]
        self._watch(values[steps.valid])
        return np.nan_to_num(values)

    def _watch(self, values: Array) -> None:
        """Warns once if none of the first steps has the key (NaN)."""
        without = self.memory["steps_without"]
        if without[0] < 0:
            return
        without[0] += len(values)
        if not np.isnan(values).all():
            without[0] = -1
        elif without[0] >= PATIENCE:
            what = "shaping: none of the first %s steps of %s has info[%r], so the term is 0"
            logging.getLogger("gymnast").warning(what, f"{without[0]:,}", self._env, self._key)
            without[0] = -1
