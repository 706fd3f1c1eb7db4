"""What has happened to the copies of a vector since each was last seeded: its actions.

Copies draw what an episode begins with from generators that we cannot save. The same seed and the same
actions bring a copy to the same state again, over several episodes where only the first was seeded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.spaces.spaces import Action, DiscreteAction

Array = np.ndarray
ROOM = 2**23
"""Bytes of actions above which they are forgotten: every checkpoint holds them."""
_UNKNOWN = -1


class History:
    def __init__(self, space: Action, n_envs: int) -> None:
        small = (
            isinstance(space, DiscreteAction) and space.first >= 0 and space.first + space.n <= 256
        )
        self._stored_as = np.dtype(np.uint8) if small else None
        self._actions = np.zeros((0, n_envs), np.uint8)
        self._given_as = np.dtype(np.int64)
        self._length = 0
        """Vector steps that are kept."""
        self._start = np.full(n_envs, _UNKNOWN)
        """The step before which each copy was seeded."""
        self._seed = np.zeros(n_envs, dtype=np.int64)

    def begin(self, copies: Sequence[int], seeds: Sequence[int]) -> None:
        """These copies have been reset, each with its seed."""
        self._start[copies], self._seed[copies] = self._length, seeds

    def forget(self, copies: Sequence[int]) -> None:
        """It is not known how these copies got where they are."""
        self._start[copies] = _UNKNOWN

    def age(self, copy: int) -> float:
        """Vector steps since a copy was seeded."""
        start = self._start[copy]
        return float("inf") if start == _UNKNOWN else self._length - start

    def add(self, action: Array) -> None:
        """All copies are stepped with these actions, [N, ...]."""
        if self._length == len(self._actions):
            self._make_room(action)
        self._actions[self._length] = action
        self._length += 1

    def arrays(self) -> dict[str, Array] | None:
        """For a checkpoint; None if some copy cannot be replayed."""
        if (self._start == _UNKNOWN).any():
            return None
        self._drop_what_nobody_needs()
        return {
            "seed": self._seed.copy(),
            "start": self._start.copy(),
            "action": self._actions[: self._length].copy(),
            "given_as": np.zeros(0, self._given_as),
        }

    def _make_room(self, action: Array) -> None:
        stored_as = self._stored_as or action.dtype
        self._drop_what_nobody_needs()
        limit = max(ROOM // (action.size * stored_as.itemsize), 1)
        if self._length >= limit:
            self._start[:], self._length = _UNKNOWN, 0
        steps = min(max(256, 2 * self._length), limit)
        grown = np.empty((steps, *action.shape), stored_as)
        if self._length:
            grown[: self._length] = self._actions[: self._length]
        self._actions, self._given_as = grown, action.dtype

    def _drop_what_nobody_needs(self) -> None:
        """The steps before any copy was seeded."""
        known = self._start[self._start != _UNKNOWN]
        first = int(known.min()) if len(known) else self._length
        self._actions[: self._length - first] = self._actions[first : self._length].copy()
        self._length -= first
        self._start[self._start != _UNKNOWN] -= first
