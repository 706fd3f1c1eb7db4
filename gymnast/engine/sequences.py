"""The sequences of a training batch for policies with memory: padded to one length, in time-major order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gymnast.rollout import Rollout

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Sequences:
    """M sequences of L steps each. Row t * M + m of the batch is step t of sequence m.

    Every sequence starts at t = 0. After its last step it is padded with rows of weight 0.
    """

    length: int
    """Number of steps, L."""
    count: int
    """Number of sequences, M."""
    start: Array
    """True for rows before which the state is reset, because an episode starts, [L * M]."""
    weight: Array
    """1 for rows to learn from; 0 for burn-in, padding and steps that are not valid. float32, [L * M]."""
    state: Array
    """Policy states before the first steps, [M, S], float32."""

    @cached_property
    def detached(self) -> Array:
        """True for rows up to the first of their sequence to learn from, [L * M]. No gradient flows into the
        state before them: burn-in steps only carry the state forward."""
        weight = self.weight.reshape(self.length, self.count)
        return (np.cumsum(weight, 0) - weight == 0).reshape(-1)

    def rows(self, chosen: Array) -> Array:
        """Returns the rows of some sequences (indices [m]) in time-major order, [L * m]."""
        return (np.arange(self.length)[:, None] * self.count + chosen).reshape(-1)

    def select(self, chosen: Array) -> Sequences:
        """Returns some of the sequences, by index [m]."""
        rows = self.rows(chosen)
        weight, start = self.weight[rows], self.start[rows]
        return Sequences(self.length, len(chosen), start, weight, self.state[chosen])


def sequences_of(rollout: Rollout) -> tuple[Sequences, Array]:
    """Returns the sequences of a rollout, and the step that each of their rows shows, as an index into the
    flattened steps [T * N]. Sequences without any step to learn from are left out."""
    assert rollout.memory is not None
    assert rollout.sequences is not None
    steps, n = rollout.valid.shape
    begin, first = rollout.sequences[:, 0], rollout.sequences[:, 1]
    end = np.append(first[1:], steps)
    length = int((end - begin).max())
    # Steps [L, K] of every sequence; padding repeats its last step.
    offsets = np.arange(length)[:, None]
    at = np.minimum(begin + offsets, end - 1)
    learned = (begin + offsets >= first) & (begin + offsets < end)
    # Sequence k of copy i is number k * N + i.
    source = (at[:, :, None] * n + np.arange(n)).reshape(length, -1)
    valid = learned[:, :, None] & rollout.valid[at]
    used = valid.reshape(length, -1).any(0)
    source = source[:, used]
    sequences = Sequences(
        length=length,
        count=source.shape[1],
        start=rollout.start.reshape(-1)[source.reshape(-1)],
        weight=valid.reshape(length, -1)[:, used].astype(np.float32).reshape(-1),
        state=np.ascontiguousarray(rollout.memory.reshape(-1, rollout.memory.shape[2])[used]),
    )
    return sequences, source.reshape(-1)
