"""A number that the environment puts into `info` at every step, as a reward term."""

from __future__ import annotations

import logging

import numpy as np

from gymnast.shaping.steps import Scene, Steps

Array = np.ndarray
PATIENCE = 1_000
"""Steps after which a key that no step had is worth a warning."""


class Info:
    """`info[key]` of each step, 0 where a step does not have it."""

    def __init__(self, scene: Scene, key: str) -> None:
        self._env, self._key = scene.env.id, key
        self.memory = {"steps_without": np.zeros(1, dtype=np.int64)}
        """Steps up to the first that had the key; -1 once one had it or the warning was given."""

    def __call__(self, steps: Steps) -> Array:
        if steps.info is None:
            return np.zeros(steps.reward.shape)
        given = steps.info[self._key]
        self._watch(given[steps.valid])
        return np.nan_to_num(given)

    def _watch(self, given: Array) -> None:
        without = self.memory["steps_without"]
        if without[0] < 0:
            return
        without[0] += len(given)
        if not np.isnan(given).all():
            without[0] = -1
        elif without[0] >= PATIENCE:
            what = "shaping: none of the first %s steps of %s has info[%r], so the term is 0"
            logging.getLogger("gymnast").warning(what, f"{without[0]:,}", self._env, self._key)
            without[0] = -1
