"""What a policy saw and did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gymnast.images import Images, Observed, as_arrays, from_arrays
from gymnast.rl.returns import gae

Array = np.ndarray


class Episode(NamedTuple):
    """One finished episode, as the environment itself scored it."""

    raw_return: float
    length: int
    env: int
    seed: int
    truncated: bool
    numbers: dict[str, float]
    """The preset's own metrics, read from the last `info`."""


@dataclass(frozen=True, eq=False)
class Episodes:
    """Finished episodes, in the order in which they ended; arrays are [K]."""

    raw_return: Array
    length: Array
    env: Array
    seed: Array
    truncated: Array
    numbers: tuple[dict[str, float], ...] = ()
    """Of each; empty where the preset has no metrics of its own."""

    @classmethod
    def none(cls) -> Episodes:
        return cls.of(())

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> Episodes:
        *columns, numbers = [*zip(*episodes, strict=True)] or [()] * len(Episode._fields)
        arrays = map(np.array, columns, (np.float64, np.int64, np.int64, np.int64, np.bool_))
        return cls(*arrays, numbers=numbers if any(numbers) else ())

    def __len__(self) -> int:
        return len(self.seed)

    def __iter__(self) -> Iterator[Episode]:
        columns = (column.tolist() for column in self._columns())
        return map(Episode._make, zip(*columns, self._numbers(), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Episodes) and list(self) == list(other)

    def followed_by(self, later: Episodes, most: int) -> Episodes:
        """The newest of all, at most so many."""
        both = zip(self._columns(), later._columns(), strict=True)
        columns = (np.concatenate(pair)[-most:] for pair in both)
        told = self.numbers or later.numbers
        numbers = (self._numbers() + later._numbers())[-most:] if told else ()
        return Episodes(*columns, numbers=numbers)

    def _columns(self) -> tuple[Array, ...]:
        return self.raw_return, self.length, self.env, self.seed, self.truncated

    def _numbers(self) -> tuple[dict[str, float], ...]:
        return self.numbers or ({},) * len(self)


@dataclass(frozen=True)
class Rollout:
    """T steps in N environments under one policy. Arrays are [T, N, ...]."""

    obs: Observed
    last_obs: Array
    """Where the rollout left off, [N, ...]."""
    cut_obs: Array
    """What each episode that was cut short reached, [K, ...]."""
    cut_at: tuple[Array, Array]
    """Steps and copies of those K ends."""
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
    episodes: Episodes
    info: Array | None = None
    """Numbers of each step's info by their keys, as records; NaN where a step does not have one."""

    @property
    def steps(self) -> int:
        """Steps to learn from."""
        return int(self.valid.sum())

    @cached_property
    def whole(self) -> bool:
        """Every step is valid."""
        return np.count_nonzero(self.valid) == self.valid.size  # a third of the time of all()

    def next_obs(self) -> Observed:
        """What each action led to, [T, N, ...]; after a true end it is the next episode's first."""
        if isinstance(self.obs, Images):
            last = Images.of(self.last_obs, self.obs.channels)
            return self.obs[1:].followed_by(last[None]).with_rows(self.cut_at, self.cut_obs)
        return self.newest_next_obs(len(self.obs))

    def newest_next_obs(self, steps: int) -> Array:
        """The same of the last steps alone; not of images."""
        assert not isinstance(self.obs, Images)
        first = max(len(self.obs) - steps, 0)
        following = np.concatenate([self.obs[first + 1 :], self.last_obs[None]])
        step, copy = self.cut_at
        late = step >= first
        following[step[late] - first, copy[late]] = self.cut_obs[late]
        return following

    def arrays(self) -> dict[str, Array]:
        """All that can be learned from, by name; the episodes have been told of."""
        held = {name: getattr(self, name) for name in _LEARNED_FROM}
        given = {name: array for name, array in held.items() if array is not None}
        return as_arrays(given) | {"cut_step": self.cut_at[0], "cut_copy": self.cut_at[1]}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Rollout:
        given = from_arrays(arrays)
        held: dict[str, Any] = {name: given.get(name) for name in _LEARNED_FROM}
        cut_at = arrays["cut_step"], arrays["cut_copy"]
        return cls(**held, cut_at=cut_at, episodes=Episodes.none())

    def advantages(self, gamma: float, lam: float) -> tuple[Array, Array]:
        """Advantages and value targets, [T, N]."""
        ends = self.terminated, self.done
        return gae(self.reward, self.value, self.next_value, *ends, gamma=gamma, lam=lam)


_LEARNED_FROM = tuple(f.name for f in fields(Rollout) if f.name not in ("cut_at", "episodes"))
