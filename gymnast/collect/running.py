"""The episodes that are running now: their seeds, and what happened in each since its reset.

Seed and actions restore an episode after a crash; the rest makes its trace when it ends.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Columns = dict[str, Array]
"""Named [T, ...] arrays of one copy."""


class RunningEpisodes:
    def __init__(self, n_envs: int) -> None:
        self.seed = np.zeros(n_envs, dtype=np.int64)
        self.number = np.zeros(n_envs, dtype=np.int64)
        """How many episodes each copy has begun."""
        self.raw_return = np.zeros(n_envs)
        self.length = np.zeros(n_envs, dtype=np.int64)
        self._past: list[list[Columns]] = [[] for _ in range(n_envs)]
        """For each copy, the pieces of its running episode from earlier rollouts."""

    def begin(self, env: int, seed: int) -> None:
        self.seed[env] = seed
        self.number[env] += 1
        self.raw_return[env], self.length[env] = 0.0, 0

    def finish(self, env: int, piece: Columns) -> Columns:
        """The whole episode of a copy, ending with this piece."""
        pieces = [*self._past[env], piece]
        self._past[env] = []
        return {name: np.concatenate([p[name] for p in pieces]) for name in piece}

    def go_on(self, env: int, piece: Columns) -> None:
        """Keep the piece of an episode that the rollout cut."""
        self._past[env].append(piece)

    def so_far(self, env: int) -> Columns:
        """What has happened in the running episode of a copy; empty right after its reset."""
        pieces = self._past[env]
        return {name: np.concatenate([p[name] for p in pieces]) for name in (pieces or [{}])[0]}

    def state(self) -> dict[str, Array]:
        arrays = {name: getattr(self, name).copy() for name in _PER_COPY}
        for env in range(len(self.seed)):
            arrays |= {f"{env}.{name}": column for name, column in self.so_far(env).items()}
        return arrays

    def load(self, arrays: dict[str, Array]) -> None:
        for name in _PER_COPY:
            setattr(self, name, arrays[name].copy())
        for env in range(len(self.seed)):
            prefix = f"{env}."
            columns = {n[len(prefix) :]: a for n, a in arrays.items() if n.startswith(prefix)}
            self._past[env] = [columns] if columns else []


_PER_COPY = ("seed", "number", "raw_return", "length")
