"""The training batch of a rollout, and the plan that divides it into minibatches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice

import numpy as np

from gymnast.engine.sequences import Sequences, sequences_of
from gymnast.images import ObsArray
from gymnast.policy.layers import Network
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray
MAX_MONITORING_ROWS = 128
"""Number of rows on which KL, entropy and ratios of an update are measured if the network is expensive.
On a whole rollout of images they would cost a third of another epoch."""


@dataclass(frozen=True)
class Batch:
    """The valid steps of a rollout in one axis, [B, ...], with their advantages and value targets. For a
    policy with memory, the rows of its sequences, among them some of weight 0."""

    features: ObsArray
    """Preprocessed observations, as the network reads them."""
    action: Array
    logprob: Array
    """Log-probability of the action under the policy that collected it."""
    dist: Array
    """Parameters of the distribution that the action was sampled from, [B, k]."""
    advantage: Array
    value: Array
    """Value predicted during collection, in the critic's units (normalized with PopArt)."""
    target: Array
    """Value target, in the critic's units."""
    mask: Array | None
    sequences: Sequences | None = None
    """The sequences that the rows form, for a policy with memory."""

    @classmethod
    def from_rollout(
        cls, policy: Policy, rollout: Rollout, advantage: Array, target: Array
    ) -> Batch:
        """Returns the batch of a rollout with advantages and value targets [T, N].

        These become float32 here; GAE and the normalization of advantages compute in float64.
        """
        sequences, keep = None, rollout.valid.ravel()
        all_kept = bool(keep.all())  # then flattening is a view, without a copy of every column
        if policy.state_size:
            (sequences, keep), all_kept = sequences_of(rollout), False
        normalized = policy.value_scale.normalized

        def flat(x: ObsArray) -> ObsArray:
            x = x.reshape(-1, *x.shape[2:])
            return x if all_kept else x[keep]

        def floats(x: Array) -> Array:
            return np.ascontiguousarray(flat(x), dtype=np.float32)

        return cls(
            features=policy.features(flat(rollout.obs)),
            action=np.ascontiguousarray(flat(rollout.action)),
            logprob=floats(rollout.logprob),
            dist=floats(rollout.dist),
            advantage=floats(advantage),
            value=floats(normalized(rollout.value)),
            target=floats(normalized(target)),
            mask=None if rollout.mask is None else np.ascontiguousarray(flat(rollout.mask)),
            sequences=sequences,
        )

    def __len__(self) -> int:
        return len(self.action)

    def sample(self, n: int) -> Batch:
        """Returns at most n rows, evenly spaced over all environment copies and steps. With memory, these are
        whole sequences, at least one."""
        if len(self) <= n:
            return self
        if self.sequences is None:
            return self.rows(np.linspace(0, len(self) - 1, n).astype(np.int64))
        chosen = max(n // self.sequences.length, 1)
        at = np.linspace(0, self.sequences.count - 1, chosen).astype(np.int64)
        batch = self.rows(self.sequences.rows(at))
        return replace(batch, sequences=self.sequences.select(at))

    def rows(self, index: Array) -> Batch:
        """Returns some rows, by index. They do not form sequences any more."""
        columns = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "sequences"}
        chosen = {name: column[index] for name, column in columns.items() if column is not None}
        return replace(self, **chosen, sequences=None)


def learning_units(rollout: Rollout) -> int:
    """Returns the number of units that minibatches of a rollout consist of: steps, or with memory
    sequences."""
    return rollout.steps if rollout.sequences is None else sequences_of(rollout)[0].count


def monitoring_rows(network: Network, batch: Batch) -> Batch:
    """Returns the rows on which the change of the policy by an update is measured."""
    return batch.sample(MAX_MONITORING_ROWS) if network.is_expensive else batch


@dataclass(frozen=True)
class MinibatchPlan:
    """The epochs of an update: the order of the rows in each, and the minibatch size."""

    orders: Array
    """Row indices in the order of each epoch, [epochs, B]; with memory, indices of sequences, [epochs, M]."""
    size: int
    """Largest number of rows, or of sequences, per minibatch."""
    target_kl: float | None = None
    """No further epoch starts once the mean KL between the collecting and the new policy exceeds this."""

    @classmethod
    def single_batch(cls, n: int) -> MinibatchPlan:
        """Returns a plan with one gradient step on all n rows."""
        return cls(np.arange(n)[None], n)

    @classmethod
    def shuffled(
        cls, epochs: int, n: int, size: int, stream: np.random.Generator, target_kl: float | None
    ) -> MinibatchPlan:
        """Returns a plan of epochs over n rows, each in a random order of its own, with minibatches of at
        most `size` rows."""
        return cls(np.stack([stream.permutation(n) for _ in range(epochs)]), size, target_kl)

    @property
    def steps_per_epoch(self) -> int:
        """Number of gradient steps per epoch."""
        return -(-self.orders.shape[1] // self.size)  # rounded up

    def limit_steps(self, max_steps: int | None) -> list[MinibatchPlan]:
        """Returns the plan limited to its first `max_steps` gradient steps.

        There are up to two parts: the complete epochs, and the beginning of the epoch in which the
        limit falls. Both have the same minibatches as the original plan.
        """
        if max_steps is None or max_steps >= len(self.orders) * self.steps_per_epoch:
            return [self]
        epochs, rest = divmod(max_steps, self.steps_per_epoch)
        # Minibatch sizes differ by up to one row, so the rows of the first `rest` ones are counted.
        rows = sum(len(batch) for batch in islice(self.minibatches(self.orders[epochs]), rest))
        parts = (self.orders[:epochs], self.orders[epochs : epochs + 1, :rows])
        return [replace(self, orders=np.ascontiguousarray(x)) for x in parts if x.size]

    def minibatches(self, order: Array) -> Iterator[Array]:
        """Yields the row indices of each minibatch of one epoch, whose row order is `order` [B]: as few
        minibatches as possible, of nearly equal size.

        A small remainder as the last minibatch would have a noisier gradient than the others.
        """
        yield from np.array_split(order, self.steps_per_epoch)
