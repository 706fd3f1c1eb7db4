"""Random streams and episode seeds, all derived from one root seed.

A stream is a pure function of the root seed and a path such as ("action", "agent", 17). So there is no
generator state to save: the same path gives the same random numbers again after a resume.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np

Name = str | int


def stream(root: int, *path: Name) -> np.random.Generator:
    """Returns a counter-based generator (Philox), independent of the generators of all other paths."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(_digest(root, path, 16))))


def episode_seed(root: int, *path: Name) -> int:
    """Returns the seed of one episode for `env.reset(seed=...)`: 0 <= seed < 2**31."""
    return int.from_bytes(_digest(root, path, 4)) >> 1


def episode_seeds(root: int, *path: Name) -> Callable[[int, int], int]:
    """Returns a fast function (env, number) -> `episode_seed(root, *path, env, number)`."""
    # The hash of the common prefix is computed once. It must continue the repr of the path exactly.
    prefix = blake2b(repr((root, *path))[:-1].encode(), digest_size=4)

    def seed_of(env: int, number: int) -> int:
        digest = prefix.copy()
        digest.update(b", %d, %d)" % (env, number))
        return int.from_bytes(digest.digest()) >> 1

    return seed_of


def encode_task(seed: int, task: int, n_tasks: int) -> int:
    """Returns a seed close to `seed` that encodes the task: the result % n_tasks == task.

    So the task of an episode is known from its seed alone (`decode_task`)."""
    encoded = seed - seed % n_tasks + task
    # Above the largest seed, the previous multiple of n_tasks encodes the same task.
    return encoded if encoded < 2**31 else encoded - n_tasks


def decode_task(seed: int, n_tasks: int) -> int:
    """Returns the task that `encode_task` encoded in a seed."""
    return seed % n_tasks


def uniform_from_seed(seed: int, purpose: str) -> float:
    """Returns a number x with 0 <= x < 1, a function of the seed and the purpose."""
    return int.from_bytes(_digest(seed, (purpose,), 4)) / 2**32


def is_in_subset(share: float, seed: int) -> bool:
    """Returns whether the episode of this seed is in a fixed subset with this share of all seeds.

    Multiplying by an odd number permutes the seeds modulo 2**31, so that the share is exact.
    """
    # A prime near 2**32 / golden ratio (Knuth's multiplicative hashing) spreads neighboring seeds.
    return seed * 0x9E3779B1 % 2**31 < share * 2**31


def _digest(root: int, path: tuple[Name, ...], size: int) -> bytes:
    # `hash()` is salted per process for strings; the repr also separates 1 from "1".
    return blake2b(repr((root, *path)).encode(), digest_size=size).digest()
