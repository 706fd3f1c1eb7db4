"""The steps of a rollout with what is to be learned from each, and the orders to go through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

import numpy as np

from gymnast.images import Observed
from gymnast.policy.layers import Network
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray
MAX_MONITORING_ROWS = 128
"""Rows by which KL, entropy and ratios of an update are told where acting is dear: for all of a
rollout of images they would cost a third of one more pass over it."""


@dataclass(frozen=True)
class Batch:
    """Valid steps only, [B, ...]."""

    features: Observed
    action: Array
    logprob: Array
    dist: Array
    advantage: Array
    value: Array
    target: Array
    mask: Array | None

    @classmethod
    def of(cls, policy: Policy, rollout: Rollout, advantage: Array, target: Array) -> Batch:
        """Advantages and targets [T, N] become float32 here and not before."""
        keep = rollout.valid.ravel()
        everything = bool(keep.all())
        scale = policy.value_scale.normalized

        def flat(x: Any) -> Any:
            x = x.reshape(-1, *x.shape[2:])
            return x if everything else x[keep]

        def floats(x: Array) -> Array:
            return np.ascontiguousarray(flat(x), dtype=np.float32)

        return cls(
            features=policy.features(flat(rollout.obs)),
            action=np.ascontiguousarray(flat(rollout.action)),
            logprob=floats(rollout.logprob),
            dist=floats(rollout.dist),
            advantage=floats(advantage),
            value=floats(scale(rollout.value)),
            target=floats(scale(target)),
            mask=None if rollout.mask is None else np.ascontiguousarray(flat(rollout.mask)),
        )

    def __len__(self) -> int:
        return len(self.action)

    def sample(self, most: int) -> Batch:
        """At most so many of its rows, evenly spaced: of all copies and all times."""
        if len(self) <= most:
            return self
        rows = np.linspace(0, len(self) - 1, most).astype(np.int64)
        columns = {f.name: getattr(self, f.name) for f in fields(self)}
        picked = {name: column[rows] for name, column in columns.items() if column is not None}
        return replace(self, **picked)


def monitoring_rows(network: Network, batch: Batch) -> Batch:
    """The rows that say how far an update has moved the policy."""
    return batch.sample(MAX_MONITORING_ROWS) if network.is_expensive else batch


@dataclass(frozen=True)
class MinibatchPlan:
    """How often, in which order and in what portions a batch is gone through."""

    orders: Array
    """Steps of each pass, [passes, B]."""
    size: int
    """Steps per gradient step, at most."""
    target_kl: float | None = None
    """After a pass that moved the policy further than this there is no other."""

    @classmethod
    def single_batch(cls, n: int) -> MinibatchPlan:
        """All at once, in one gradient step."""
        return cls(np.arange(n)[None], n)

    @classmethod
    def shuffled(
        cls, passes: int, n: int, size: int, stream: np.random.Generator, most_kl: float | None
    ) -> MinibatchPlan:
        return cls(np.stack([stream.permutation(n) for _ in range(passes)]), size, most_kl)

    @property
    def steps_per_epoch(self) -> int:
        """Gradient steps of one pass."""
        return -(-self.orders.shape[1] // self.size)

    def within(self, max_steps: int | None) -> list[MinibatchPlan]:
        """The same gradient steps in the same order, but no more than these: the passes that fit
        whole and, where the limit falls inside a pass, the beginning of that one."""
        if max_steps is None or max_steps >= len(self.orders) * self.steps_per_epoch:
            return [self]
        whole, rest = divmod(max_steps, self.steps_per_epoch)
        rows = sum(len(portion) for portion in islice(self.minibatches(self.orders[whole]), rest))
        cut = (self.orders[:whole], self.orders[whole : whole + 1, :rows])
        return [replace(self, orders=np.ascontiguousarray(x)) for x in cut if x.size]

    def minibatches(self, order: Array) -> Iterator[Array]:
        """The fewest near-equal parts of at most `size`."""
        yield from np.array_split(order, self.steps_per_epoch)
