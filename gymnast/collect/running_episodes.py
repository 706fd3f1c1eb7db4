"""The unfinished episodes: their seeds, and everything that happened in each since its reset.

Seed and actions restore an episode after a crash; the other columns become its trace when it ends. The
most recent rollouts are kept as they are, as far back as the longest unfinished episode reaches: the
episode of a copy is its last `length` steps. Slicing out a single copy is left until it is needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.images import ObsArray, as_arrays, concatenate, from_arrays

Array = np.ndarray
Columns = Mapping[str, ObsArray]
"""Arrays by name, [T, ...] for one copy or [T, N, ...] for all; observations may be `Images`."""
MAX_BYTES = 2**25
"""Size of the kept rollouts above which a few long episodes are copied out of them to free the rest."""
_PER_COPY = ("seed", "number", "raw_return", "length")
_PAST = "past."
"""Prefix of the steps of unfinished episodes in a checkpoint."""


class RunningEpisodes:
    """The current episode of each copy: seed, number, return and length so far, and its steps."""

    def __init__(self, n_envs: int) -> None:
        self.table = np.zeros(
            n_envs, [("seed", "i8"), ("number", "i8"), ("raw_return", "f8"), ("length", "i8")]
        )
        """One row per copy. The attributes below are views of its fields."""
        self.seed, self.number = self.table["seed"], self.table["number"]
        """`number`: number of episodes that each copy has started."""
        self.raw_return, self.length = self.table["raw_return"], self.table["length"]
        self._past: deque[Columns] = deque()
        """The kept rollouts, oldest first."""
        self._steps = self._bytes = 0
        """Vector steps and bytes in the kept rollouts."""
        self._before: dict[int, list[Columns]] = {}
        """Steps older than the kept rollouts, for copies whose episode started before them."""

    def start_episodes(self, copies: Array, seeds: Sequence[int]) -> None:
        """Records that these copies start a new episode, each with its seed."""
        self.seed[copies] = seeds
        self.number[copies] += 1
        self.clear(copies)

    def clear(self, copies: Array | list[int]) -> None:
        """Sets return and length of these copies to 0."""
        self.raw_return[copies], self.length[copies] = 0.0, 0

    def complete_episode(self, env: int, length: int, last_piece: Columns) -> Columns:
        """Returns all `length` steps of an episode that ended; `last_piece` are its steps in the current
        rollout, which has not been appended yet."""
        earlier = length - len(last_piece["reward"])
        return last_piece if earlier <= 0 else _joined([*self._last(env, earlier), last_piece])

    def partial_episode(self, env: int) -> Columns:
        """Returns the steps of a copy's unfinished episode; empty right after its reset."""
        return _joined(self._last(env, int(self.length[env])))

    def append_rollout(self, columns: Columns, steps: int) -> None:
        """Keeps a rollout of `steps` steps, and frees older ones that no unfinished episode reaches."""
        if not steps:
            return
        self._past.append(columns)
        self._steps, self._bytes = self._steps + steps, self._bytes + _size(columns)
        # Drop the oldest rollouts as long as the longest unfinished episode fits into the rest.
        longest = int(self.length.max())
        while self._past and self._steps - len(self._past[0]["reward"]) >= longest:
            oldest = self._past.popleft()
            self._steps -= len(oldest["reward"])
            self._bytes -= _size(oldest)
        # Copied-out steps are needed only by episodes that reach back beyond the kept rollouts.
        if self._before:
            is_older = self.length > self._steps
            self._before = {env: pieces for env, pieces in self._before.items() if is_older[env]}
        if self._bytes > MAX_BYTES:
            self._free_memory()

    def _free_memory(self) -> None:
        """Replaces the kept rollouts by copies of the unfinished episodes, if those are a small part."""
        # Env steps of unfinished episodes among all that are kept. One very long episode would otherwise
        # keep the rollouts of all copies alive. Copying must at least save three quarters of them.
        needed = int(np.minimum(self.length, self._steps).sum())
        if 4 * needed < self._steps * len(self.table):
            for env in np.flatnonzero(self.length).tolist():
                pieces = self._last(env, int(self.length[env]))
                self._before[env] = [{n: c.copy() for n, c in piece.items()} for piece in pieces]
            self._past.clear()
            self._steps = self._bytes = 0

    def _last(self, env: int, length: int) -> list[Columns]:
        """Returns the last `length` steps of a copy in pieces, oldest first."""
        newest_first: list[Columns] = []
        for rollout in reversed(self._past):
            if length <= 0:
                break
            steps = len(rollout["reward"])
            first = max(steps - length, 0)
            newest_first.append({name: column[first:, env] for name, column in rollout.items()})
            length -= steps
        older = self._before.get(env, ()) if length > 0 else ()
        return [*older, *reversed(newest_first)]

    # ---- stored form -------------------------------------------------------------------------

    def state(self, *, with_steps: bool, copies: slice = slice(None)) -> dict[str, Array]:
        """Returns the arrays of a checkpoint; `with_steps` adds the steps of all unfinished episodes,
        concatenated in the order of the copies. `copies`: those whose arrays are wanted."""
        arrays = {name: self.table[name][copies].copy() for name in _PER_COPY}
        if with_steps:
            every = np.arange(len(self.table))[copies]
            running = every[self.length[copies] > 0].tolist()
            every = _joined([self.partial_episode(env) for env in running])
            arrays |= {f"{_PAST}{name}": array for name, array in as_arrays(every).items()}
        return arrays

    def part(self, copies: slice, *, with_steps: bool) -> RunningEpisodes:
        """Returns the episodes of some copies on their own; `with_steps`: with their steps."""
        own = RunningEpisodes(len(self.table[copies]))
        own.load(self.state(with_steps=with_steps, copies=copies))
        return own

    @classmethod
    def join(cls, parts: Sequence[RunningEpisodes], *, with_steps: bool) -> RunningEpisodes:
        """Returns the episodes of all copies of several groups, in this order."""
        every = cls(sum(len(part.table) for part in parts))
        every.table[:] = np.concatenate([part.table for part in parts])
        copies = [(part, env) for part in parts for env in range(len(part.table))]
        for number, (part, env) in enumerate(copies):
            if with_steps and part.length[env]:
                every._before[number] = [part.partial_episode(env)]
        return every

    def load(self, arrays: dict[str, Array]) -> None:
        """Restores what `state` returned."""
        for name in _PER_COPY:
            self.table[name] = arrays[name]
        past = from_arrays(
            {n.removeprefix(_PAST): a for n, a in arrays.items() if n.startswith(_PAST)}
        )
        self._past.clear()
        self._steps, self._bytes, self._before = 0, 0, {}
        if past:
            # All episodes in one array [steps, ...]: the lengths say where each one ends.
            last = np.cumsum(self.length)
            for env in np.flatnonzero(self.length).tolist():
                own = slice(last[env] - self.length[env], last[env])
                self._before[env] = [{name: column[own] for name, column in past.items()}]


def _joined(pieces: Sequence[Columns]) -> Columns:
    """Concatenates pieces along time. The last piece decides which columns there are."""
    return {name: concatenate([p[name] for p in pieces]) for name in (pieces or [{}])[-1]}


def _size(columns: Columns) -> int:
    return sum(column.nbytes for column in columns.values())
