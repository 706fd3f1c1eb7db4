"""The episodes that are running now: their seeds, and what happened in each since its reset.

Seed and actions restore an episode after a crash; the rest makes its trace when it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Columns = dict[str, Array]
"""Named [T, ...] arrays of one copy, or [T, N, ...] of several."""
_PER_COPY = ("seed", "number", "raw_return", "length")


class RunningEpisodes:
    def __init__(self, n_envs: int) -> None:
        self.table = np.zeros(
            n_envs, [("seed", "i8"), ("number", "i8"), ("raw_return", "f8"), ("length", "i8")]
        )
        """One row per copy; the columns by name:"""
        self.seed, self.number = self.table["seed"], self.table["number"]
        """`number`: how many episodes each copy has begun."""
        self.raw_return, self.length = self.table["raw_return"], self.table["length"]
        self._past: list[_Piece] = []
        """Of earlier rollouts, oldest first."""

    def begin(self, copies: Array, seeds: Sequence[int]) -> None:
        self.seed[copies] = seeds
        self.number[copies] += 1
        self.forget(copies)

    def forget(self, copies: Array | list[int]) -> None:
        """Nothing has happened in these, as far as anybody knows."""
        self.raw_return[copies], self.length[copies] = 0.0, 0

    def whole(self, env: int, length: int, piece: Columns) -> Columns:
        """The episode of a copy, of that many steps, which ends with this piece of it."""
        earlier = length - len(piece["reward"])
        return piece if earlier <= 0 else _joined([*self._pieces(env), piece])

    def go_on(self, columns: Columns, steps: int) -> None:
        """A rollout of so many steps has ended: keep what the episodes that still run did in it."""
        kept = (piece.of(self.length[piece.copies] > steps) for piece in self._past)
        self._past = [piece for piece in kept if piece is not None]
        if steps and self.length.any():
            begins = np.maximum(steps - self.length, 0)
            self._past.append(_Piece(columns, np.arange(len(self.table)), begins))

    def so_far(self, env: int) -> Columns:
        """What has happened in the running episode of a copy; empty right after its reset."""
        return _joined(self._pieces(env)) if self.length[env] else {}

    def _pieces(self, env: int) -> list[Columns]:
        return [found for piece in self._past if (found := piece.of_copy(env))]

    # ---- stored form -------------------------------------------------------------------------

    def state(self, *, past: bool) -> Columns:
        """`past`: with what happened, the episodes of all copies end to end."""
        arrays = {name: self.table[name].copy() for name in _PER_COPY}
        if past and self._past:
            copy = np.concatenate([piece.owners() for piece in self._past])
            order = np.argsort(copy, kind="stable")
            for name in self._past[0].columns:
                steps = np.concatenate([piece.steps(name) for piece in self._past])
                arrays[f"{_PAST}{name}"] = steps[order]
        return arrays

    def load(self, arrays: Columns) -> None:
        for name in _PER_COPY:
            self.table[name] = arrays[name]
        past = {n.removeprefix(_PAST): a for n, a in arrays.items() if n.startswith(_PAST)}
        self._past = []
        if past:
            last = np.cumsum(self.length)
            for env in np.flatnonzero(self.length).tolist():
                span = slice(last[env] - self.length[env], last[env])
                columns = {name: steps[span, None] for name, steps in past.items()}
                self._past.append(_Piece(columns, np.array([env]), np.array([0])))


_PAST = "past."


@dataclass(frozen=True)
class _Piece:
    """What happened in some copies during one rollout."""

    columns: Columns
    """[T, K, ...]"""
    copies: Array
    """Whose column is which, [K] in ascending order."""
    begins: Array
    """Step in here with which the running episode of each begins, [K]; T where it begins later."""

    @property
    def length(self) -> int:
        return len(next(iter(self.columns.values())))

    def of(self, still: Array) -> _Piece | None:
        """What is left when only some of the episodes still run. That is cut out once the rest is
        the larger part, so that one long episode does not keep everything."""
        begins = np.where(still, self.begins, self.length)
        going = begins < self.length
        if not going.any():
            return None
        if 2 * np.count_nonzero(going) > len(going):
            return _Piece(self.columns, self.copies, begins)
        columns = {name: column[:, going] for name, column in self.columns.items()}
        return _Piece(columns, self.copies[going], begins[going])

    def of_copy(self, env: int) -> Columns | None:
        place = int(np.searchsorted(self.copies, env))
        if place == len(self.copies) or self.copies[place] != env:
            return None
        first = int(self.begins[place])
        if first == self.length:
            return None
        return {name: column[first:, place] for name, column in self.columns.items()}

    def owners(self) -> Array:
        """The copy of each step of a running episode: one copy after the other."""
        return np.repeat(self.copies, self.length - self.begins)

    def steps(self, name: str) -> Array:
        """One column of those steps."""
        runs = np.arange(self.length) >= self.begins[:, None]
        return self.columns[name].swapaxes(0, 1)[runs]


def _joined(pieces: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([p[name] for p in pieces]) for name in (pieces or [{}])[-1]}
