"""The episodes that are running now: their seeds, and what happened in each since its reset.

Seed and actions restore an episode after a crash; the rest makes its trace when it ends. The last
rollouts are kept whole, as far back as the longest episode reaches: that of a copy is its last
`length` steps. Nothing is cut out for a single copy before somebody asks for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from gymnast.images import as_arrays, concatenate, from_arrays

Array = np.ndarray
Columns = dict[str, Any]
"""Named [T, ...] arrays of one copy, or [T, N, ...] of all; observations may be `Images`."""
ROOM = 2**25
"""Bytes of whole rollouts above which a few long episodes are cut out of them."""
_PER_COPY = ("seed", "number", "raw_return", "length")
_PAST = "past."


class RunningEpisodes:
    def __init__(self, n_envs: int) -> None:
        self.table = np.zeros(
            n_envs, [("seed", "i8"), ("number", "i8"), ("raw_return", "f8"), ("length", "i8")]
        )
        """One row per copy; the columns by name:"""
        self.seed, self.number = self.table["seed"], self.table["number"]
        """`number`: how many episodes each copy has begun."""
        self.raw_return, self.length = self.table["raw_return"], self.table["length"]
        self._past: deque[Columns] = deque()
        """Whole rollouts, oldest first."""
        self._steps = self._bytes = 0
        """How much those hold."""
        self._before: dict[int, list[Columns]] = {}
        """Of copies whose episode began before those: the steps up to there."""

    def start_episodes(self, copies: Array, seeds: Sequence[int]) -> None:
        self.seed[copies] = seeds
        self.number[copies] += 1
        self.clear(copies)

    def clear(self, copies: Array | list[int]) -> None:
        """Nothing has happened in these, as far as anybody knows."""
        self.raw_return[copies], self.length[copies] = 0.0, 0

    def whole(self, env: int, length: int, piece: Columns) -> Columns:
        """The episode of a copy, of that many steps, which ends with this piece of it."""
        earlier = length - len(piece["reward"])
        return piece if earlier <= 0 else _joined([*self._last(env, earlier), piece])

    def so_far(self, env: int) -> Columns:
        """What has happened in the running episode of a copy; empty right after its reset."""
        return _joined(self._last(env, int(self.length[env])))

    def append_rollout(self, columns: Columns, steps: int) -> None:
        """A rollout of so many steps has ended: keep it, and let go what no episode reaches."""
        if not steps:
            return
        self._past.append(columns)
        self._steps, self._bytes = self._steps + steps, self._bytes + _size(columns)
        longest = int(self.length.max())
        while self._past and self._steps - len(self._past[0]["reward"]) >= longest:
            gone = self._past.popleft()
            self._steps, self._bytes = self._steps - len(gone["reward"]), self._bytes - _size(gone)
        if self._before:
            reach = self.length > self._steps
            self._before = {env: pieces for env, pieces in self._before.items() if reach[env]}
        if self._bytes > ROOM:
            self._make_room()

    def _make_room(self) -> None:
        """Cut the running episodes out of the past, if they are a small part of it."""
        needed = int(np.minimum(self.length, self._steps).sum())
        if 4 * needed < self._steps * len(self.table):
            for env in np.flatnonzero(self.length).tolist():
                whole = self._last(env, int(self.length[env]))
                self._before[env] = [{n: c.copy() for n, c in piece.items()} for piece in whole]
            self._past.clear()
            self._steps = self._bytes = 0

    def _last(self, env: int, length: int) -> list[Columns]:
        """The last steps of a copy, oldest first."""
        found: list[Columns] = []
        for rollout in reversed(self._past):
            if length <= 0:
                break
            steps = len(rollout["reward"])
            first = max(steps - length, 0)
            found.append({name: column[first:, env] for name, column in rollout.items()})
            length -= steps
        return [*(self._before.get(env, ()) if length > 0 else ()), *reversed(found)]

    # ---- stored form -------------------------------------------------------------------------

    def state(self, *, past: bool) -> dict[str, Array]:
        """`past`: with what happened, the episodes of all copies end to end."""
        arrays = {name: self.table[name].copy() for name in _PER_COPY}
        if past:
            running = np.flatnonzero(self.length).tolist()
            every = _joined([self.so_far(env) for env in running])
            arrays |= {f"{_PAST}{name}": array for name, array in as_arrays(every).items()}
        return arrays

    def load(self, arrays: dict[str, Array]) -> None:
        for name in _PER_COPY:
            self.table[name] = arrays[name]
        past = from_arrays(
            {n.removeprefix(_PAST): a for n, a in arrays.items() if n.startswith(_PAST)}
        )
        self._past.clear()
        self._steps, self._bytes, self._before = 0, 0, {}
        if past:
            last = np.cumsum(self.length)
            for env in np.flatnonzero(self.length).tolist():
                own = slice(last[env] - self.length[env], last[env])
                self._before[env] = [{name: column[own] for name, column in past.items()}]


def _joined(pieces: Sequence[Columns]) -> Columns:
    return {name: concatenate([p[name] for p in pieces]) for name in (pieces or [{}])[-1]}


def _size(columns: Columns) -> int:
    return sum(column.nbytes for column in columns.values())
