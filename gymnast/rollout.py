"""What a policy saw and did, and how it is cut into batches for learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gymnast.rl.returns import gae

Array = np.ndarray


@dataclass(frozen=True)
class Episode:
    """One finished episode, as the environment itself scored it."""

    raw_return: float
    length: int
    env: int
    seed: int
    truncated: bool
    numbers: dict[str, float]
    """The preset's own metrics, read from the last `info`."""


@dataclass(frozen=True)
class Rollout:
    """T steps in N environments under one policy. Arrays are [T, N, ...]."""

    obs: Array
    last_obs: Array
    """Where the rollout left off, [N, ...]."""
    action: Array
    """As the policy chose it; the environment may have been given a clipped one."""
    dist: Array
    """Parameters of the action distribution it was drawn from, [T, N, k]."""
    logprob: Array
    value: Array
    reward: Array
    next_value: Array
    """V of the state reached, before any reset."""
    terminated: Array
    done: Array
    """Terminated, or cut short."""
    start: Array
    """obs opens an episode."""
    valid: Array
    """Learn from this step; false where an agent was out of play."""
    mask: Array | None
    """Allowed actions, where the environment says."""
    memory: Array | None
    """Recurrent state before the first step, [N, ...]."""
    episodes: tuple[Episode, ...]

    @property
    def steps(self) -> int:
        return self.reward.size

    def advantages(self, gamma: float, lam: float) -> tuple[Array, Array]:
        """Advantages and value targets, [T, N]."""
        ends = self.terminated, self.done
        return gae(self.reward, self.value, self.next_value, *ends, gamma=gamma, lam=lam)


def minibatches(n: int, batch_size: int, stream: np.random.Generator) -> Iterator[Array]:
    """Indices 0..n-1, freshly shuffled, in the fewest near-equal batches of at most batch_size."""
    yield from np.array_split(stream.permutation(n), -(-n // batch_size))
