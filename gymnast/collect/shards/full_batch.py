"""Acting with the rows of all env copies, of which a host has only some.

BLAS and torch compute a row of a batch with other bits if the batch has another number of rows. Compiled
kernels do not (`row_independent`). With other engines, a host therefore fills the batch up to the size that
it has in one process, and leaves the values, whose batch is the whole rollout, to the training process.
"""

from __future__ import annotations

import numpy as np

from gymnast.collect.copies import CopyRange
from gymnast.policy.policy import Policy

Array = np.ndarray


def row_independent(policy: Policy) -> bool:
    """Returns whether the outputs for one row do not depend on the number of rows."""
    return policy.engine == "native"


class FullBatchPolicy(Policy):
    """A policy that acts for some of the env copies as if it had all of them. Set `copies` before use."""

    copies: CopyRange

    def act_into(
        self,
        obs: Array,
        noise: Array,
        mask: Array | None,
        action: Array,
        dist: Array,
        logprob: Array,
        value: Array,
        state: Array | None = None,
    ) -> None:
        own = self.copies.slice
        given = (obs, noise, mask, action, dist, logprob, value, state)
        every = [None if rows is None else self._filled(rows) for rows in given]
        super().act_into(*every)  # type: ignore[arg-type]
        for rows, full in zip(given[3:], every[3:], strict=True):
            if rows is not None and full is not None:
                rows[...] = full[own]

    def value(self, obs: Array, state: Array | None = None) -> Array:
        """Returns zeros: the training process computes the values of all copies at once."""
        return np.zeros(len(obs), np.float32)

    def _filled(self, rows: Array) -> Array:
        """Returns rows for all copies: the given ones in their places, and copies of the first elsewhere."""
        full = np.repeat(rows[:1], self.copies.total, axis=0)
        full[self.copies.slice] = rows
        return full
