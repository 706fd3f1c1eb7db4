"""The parts of rollouts that hosts send with collect.mode=async, and what is known of each shard."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.collect.collector import CollectResult
from gymnast.collect.copies import CopyRange
from gymnast.collect.fragment import Fragment
from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.collect.shards.orders import ShardState

Array = np.ndarray


@dataclass
class Track:
    """A shard as the training process knows it: after the last part that has arrived."""

    copies: CopyRange
    running: RunningEpisodes
    state: ShardState
    number: int
    """Number of the next part, which determines its action noise."""


@dataclass(frozen=True)
class Piece:
    """A part of a rollout: the steps that one shard made under one version of the policy."""

    host: int
    version: int
    """Number of updates of the policy that collected it."""
    fragment: Fragment
    result: CollectResult
    """Traces and faults of the part."""
    cpu_seconds: float
    n_bytes: int


class PieceQueue:
    """Parts that have arrived and were not learned from yet, oldest first."""

    def __init__(self, per_rollout: int) -> None:
        """`per_rollout`: the number of parts that make a rollout."""
        self._per_rollout = per_rollout
        self._pieces: deque[Piece] = deque()

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def is_full(self) -> bool:
        """Whether a rollout is waiting, so that hosts need not hurry."""
        return len(self._pieces) >= self._per_rollout

    def add(self, piece: Piece) -> None:
        self._pieces.append(piece)

    def drop_older(self, version: int) -> list[Piece]:
        """Removes and returns the parts that were collected by a policy before this version."""
        dropped = [piece for piece in self._pieces if piece.version < version]
        self._pieces = deque(piece for piece in self._pieces if piece.version >= version)
        return dropped

    def take_rollout(self) -> list[Piece] | None:
        """Removes and returns the parts of a rollout; None if there are not enough yet.

        All have the same number of steps, which may change while some are on their way: the first number
        with enough parts wins. A part that ended early because its environment failed for good is a rollout
        by itself, since training must stop.
        """
        failed = [p for p in self._pieces if p.fragment.fatal_fault is not None]
        if failed:
            return self._remove(failed[:1])
        lengths = Counter(piece.fragment.length for piece in self._pieces)
        enough = [n for n, count in lengths.items() if count >= self._per_rollout]
        if not enough:
            return None
        alike = [piece for piece in self._pieces if piece.fragment.length == enough[0]]
        return self._remove(alike[: self._per_rollout])

    def _remove(self, taken: Sequence[Piece]) -> list[Piece]:
        ids = {id(piece) for piece in taken}
        self._pieces = deque(piece for piece in self._pieces if id(piece) not in ids)
        return list(taken)
