"""One root seed, many named streams.

A stream is a pure function of the root seed and a path such as ("action", "agent", 17), so there is
no generator state to save: whoever knows the counters draws the same numbers again.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np

Name = str | int


def stream(root: int, *path: Name) -> np.random.Generator:
    """A counter-based generator, independent of every other path."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(_digest(root, path, 16))))


def episode_seed(root: int, *path: Name) -> int:
    """The seed of one episode, valid for `env.reset(seed=...)`: 0 <= seed < 2**31."""
    return int.from_bytes(_digest(root, path, 4)) >> 1


def episode_seeds(root: int, *path: Name) -> Callable[[int, int], int]:
    """`episode_seed` of that path and two more numbers, for many of these."""
    beginning = blake2b(repr((root, *path))[:-1].encode(), digest_size=4)

    def seed_of(env: int, number: int) -> int:
        hashed = beginning.copy()
        hashed.update(b", %d, %d)" % (env, number))
        return int.from_bytes(hashed.digest()) >> 1

    return seed_of


def with_task(seed: int, task: int, n_tasks: int) -> int:
    """The seed beside this one that stands for that task: its remainder says which. Whoever has an
    episode's seed thus knows its task."""
    beside = seed - seed % n_tasks + task
    return beside if beside < 2**31 else beside - n_tasks


def task_of(seed: int, n_tasks: int) -> int:
    return seed % n_tasks


def portion(seed: int, purpose: str) -> float:
    """A number in 0..1 that follows from a seed."""
    return int.from_bytes(_digest(seed, (purpose,), 4)) / 2**32


def is_among(share: float, seed: int) -> bool:
    """Whether the episode of this seed is one of a share of all. Multiplying by an odd number only
    puts the seeds in another order, so the share is exact."""
    return seed * 0x9E3779B1 % 2**31 < share * 2**31


def _digest(root: int, path: tuple[Name, ...], size: int) -> bytes:
    return blake2b(repr((root, *path)).encode(), digest_size=size).digest()
