"""A rollout: the steps that a policy collected in N environments, and the episodes that ended in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gymnast.images import Images, ObsArray, as_arrays, from_arrays
from gymnast.rl.returns import gae
from gymnast.rl.vtrace import ImportanceWeights, vtrace

Array = np.ndarray


class Episode(NamedTuple):
    """One finished episode, with the unshaped and unscaled return of the environment."""

    raw_return: float
    length: int
    env: int
    seed: int
    truncated: bool
    numbers: dict[str, float]
    """Metrics that the preset declares, read from the last `info` of the episode."""


@dataclass(frozen=True, eq=False)
class Episodes:
    """Finished episodes in the order in which they ended; arrays are [K]."""

    raw_return: Array
    length: Array
    env: Array
    seed: Array
    truncated: Array
    numbers: tuple[dict[str, float], ...] = ()
    """The preset's metrics of each episode; empty if the preset declares none."""

    @classmethod
    def empty(cls) -> Episodes:
        return cls.from_episodes(())

    @classmethod
    def from_episodes(cls, episodes: Iterable[Episode]) -> Episodes:
        """Returns the episodes as arrays."""
        # rows to columns; without any episode zip yields nothing, so the empty columns are made here
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

    def concat(self, later: Episodes, max_episodes: int) -> Episodes:
        """Returns these episodes and the later ones, only the newest `max_episodes` of them."""
        pairs = zip(self._columns(), later._columns(), strict=True)
        columns = (np.concatenate(pair)[-max_episodes:] for pair in pairs)
        has_numbers = self.numbers or later.numbers
        numbers = (self._numbers() + later._numbers())[-max_episodes:] if has_numbers else ()
        return Episodes(*columns, numbers=numbers)

    def _columns(self) -> tuple[Array, ...]:
        return self.raw_return, self.length, self.env, self.seed, self.truncated

    def _numbers(self) -> tuple[dict[str, float], ...]:
        return self.numbers or ({},) * len(self)


@dataclass(frozen=True)
class Rollout:
    """T steps in N environments under one policy. Arrays are [T, N, ...]."""

    obs: ObsArray
    """Observation before each step."""
    last_obs: Array
    """Observation after the last step, [N, ...]."""
    final_obs: Array
    """Final observations of the K episodes that ended, [K, ...]; `obs` has the next reset instead."""
    final_at: tuple[Array, Array]
    """Step and environment indices of these K ends."""
    action: Array
    """Action as sampled from the policy; the environment may have received it clipped."""
    dist: Array
    """Parameters of the distribution that the action was sampled from, [T, N, k]."""
    logprob: Array
    value: Array
    reward: Array
    next_value: Array
    """Value of the state that the step led to, before any reset."""
    terminated: Array
    done: Array
    """True if the episode ended with this step, by termination or truncation."""
    start: Array
    """True if `obs` is the first observation of an episode."""
    valid: Array
    """True for steps to learn from; False while an agent is out of the game."""
    mask: Array | None
    """Action masks; None if the environment has none."""
    memory: Array | None
    """Policy states before the first step of each sequence, [K, N, S]; None for a policy without memory."""
    episodes: Episodes
    info: Array | None = None
    """Numbers in the `info` of each step, as records by key; NaN if a step lacks the key."""
    sequences: Array | None = None
    """The K sequences that a policy with memory is trained on, [K, 2]: the step of the state in `memory`, and
    the first step to learn from. Each ends where the next one begins."""
    staleness: Array | None = None
    """Number of updates by which the policy that collected each column is older than the learner's, [N];
    None if its age is fixed by `overlap` or 0, where no correction is needed."""
    copies: Array | None = None
    """Env copy of each column, [N]; None if column n is copy n. A copy may appear several times, first with
    its earlier steps, and may be missing."""
    rho: Array | None = None
    """Clipped importance ratios by which V-trace weights the TD errors; None before they are computed, and
    without `staleness`."""
    trace_cut: Array | None = None
    """Clipped importance ratios by which V-trace weights what it carries back from later steps (`c`)."""

    @property
    def steps(self) -> int:
        """Number of steps to learn from."""
        return int(self.valid.sum())

    @cached_property
    def all_valid(self) -> bool:
        """Whether every step is valid."""
        return np.count_nonzero(self.valid) == self.valid.size  # a third of the time of all()

    def first_copies(self, n: int) -> Rollout:
        """Returns the steps of the first n environments, without the episodes that ended."""
        step, env = self.final_at
        kept = env < n
        columns: dict[str, Any] = {
            name: None if (column := getattr(self, name)) is None else column[:, :n]
            for name in _PER_STEP
        }
        return replace(
            self,
            **columns,
            last_obs=self.last_obs[:n],
            final_obs=self.final_obs[kept],
            final_at=(step[kept], env[kept]),
            memory=None if self.memory is None else self.memory[:, :n],
            staleness=None if self.staleness is None else self.staleness[:n],
            copies=None if self.copies is None else self.copies[:n],
            episodes=Episodes.empty(),
        )

    def next_obs(self) -> ObsArray:
        """Returns the observation after each step, [T, N, ...], before any reset."""
        # Observation t + 1 follows observation t, except where the episode ended: there `obs` continues
        # with the next reset, and `final_obs` has the final observation.
        if isinstance(self.obs, Images):
            last = Images.from_array(self.last_obs, self.obs.channels)
            return self.obs[1:].concat(last[None]).with_rows(self.final_at, self.final_obs)
        return self.newest_next_obs(len(self.obs))

    def newest_next_obs(self, steps: int) -> Array:
        """Returns `next_obs` of the newest steps only. Images are not supported."""
        assert not isinstance(self.obs, Images)
        first = max(len(self.obs) - steps, 0)
        following = np.concatenate([self.obs[first + 1 :], self.last_obs[None]])
        step, env = self.final_at
        newest = step >= first
        following[step[newest] - first, env[newest]] = self.final_obs[newest]
        return following

    def arrays(self) -> dict[str, Array]:
        """Returns all arrays by name, for storage; the episodes, already reported, are left out."""
        columns = {name: getattr(self, name) for name in _STORED}
        present = {name: array for name, array in columns.items() if array is not None}
        return as_arrays(present) | {
            "final_step": self.final_at[0],
            "final_copy": self.final_at[1],
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Rollout:
        """Returns the rollout that `arrays` described, without its episodes."""
        # Older checkpoints have the final observations of truncated episodes only.
        arrays = {name.replace("cut_", "final_"): array for name, array in arrays.items()}
        present = from_arrays(arrays)
        columns: dict[str, Any] = {name: present.get(name) for name in _STORED}
        final_at = arrays["final_step"], arrays["final_copy"]
        return cls(**columns, final_at=final_at, episodes=Episodes.empty())

    def advantages(self, gamma: float, lam: float) -> tuple[Array, Array]:
        """Returns advantages and value targets, each [T, N]: by GAE, or by V-trace for steps of an older
        policy with importance weights."""
        columns = self.reward, self.value, self.next_value, self.terminated, self.done
        if self.rho is None or self.trace_cut is None:
            return gae(*columns, gamma=gamma, lam=lam)
        weights = ImportanceWeights(self.rho, self.trace_cut)
        return vtrace(*columns, weights, gamma=gamma, lam=lam)


_STORED = tuple(f.name for f in fields(Rollout) if f.name not in ("final_at", "episodes"))
_OTHERS = ("last_obs", "final_obs", "memory", "sequences", "staleness", "copies")
_PER_STEP = tuple(name for name in _STORED if name not in _OTHERS)
"""Fields [T, N, ...]."""
