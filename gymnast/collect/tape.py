"""One rollout while it is being played: what happened at each vector step, [T, N, ...]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.policy.policy import Policy
from gymnast.rollout import Episode, Rollout
from gymnast.runs.trace import Trace

Array = np.ndarray
Columns = dict[str, Array]


@dataclass(frozen=True)
class End:
    """An episode that ended on the tape, at step t of a copy."""

    begins: int
    """Its first step here; 0 also for one that came from an earlier tape."""
    t: int
    env: int
    final_obs: Array
    terminated: bool
    episode: Episode


class Tape:
    def __init__(self, obs: Array, capacity: int) -> None:
        """`obs`: what all copies show now, [N, ...]. The tape grows beyond its capacity if it must."""
        n = len(obs)
        self.length = 0
        self.taken = 0
        """Steps of single copies so far, learned from or not."""
        self.first = np.zeros(n, dtype=np.int64)
        """Where on the tape each copy's running episode begins."""
        self.ends: list[End] = []
        self.obs = np.empty((capacity + 1, *obs.shape), obs.dtype)
        self.reward = np.zeros((capacity, n))
        self.terminated, self.done, self.start, self.valid = (
            np.zeros((capacity, n), dtype=bool) for _ in range(4)
        )
        self.action: list[Array] = []
        self.env_action: list[Array] = []
        self.dist: list[Array] = []
        self.mask: list[Array | None] = []

    def make_room(self) -> None:
        if self.length == len(self.reward):
            for name in ("obs", "reward", "terminated", "done", "start", "valid"):
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros_like(column)]))

    def drop(self, env: int) -> None:
        """The step being played broke this copy: its episode, as far as it is here, never was."""
        t = self.length
        self.valid[self.first[env] : t + 1, env] = False
        self.reward[t, env] = 0.0
        self.terminated[t, env] = self.done[t, env] = True

    def columns(self, policy: Policy) -> Columns:
        """Everything but the observation that comes after the last step, with what the critic says
        of each state and of each true successor."""
        steps = self.length
        action, dist = np.stack(self.action), np.stack(self.dist)
        value, next_value = _values(policy, self.obs[: steps + 1], self.ends)
        flags = {name: getattr(self, name)[:steps] for name in _FLAGS}
        columns = {
            "obs": self.obs[:steps],
            "action": action,
            "env_action": np.stack(self.env_action),
            "dist": dist,
            "logprob": policy.head.logprob(dist, action),
            "value": value,
            "next_value": next_value,
            "reward": self.reward[:steps],
            **flags,
        }
        given = next((mask for mask in self.mask if mask is not None), None)
        if given is not None:
            every = np.ones_like(given)
            columns["mask"] = np.stack([every if m is None else m for m in self.mask])
        return columns

    def as_rollout(self, columns: Mapping[str, Array]) -> Rollout:
        """All of the tape."""
        cut = [(end.t, end.env, end.final_obs) for end in self.ends if not end.terminated]
        episodes = tuple(end.episode for end in self.ends)
        return _rollout(columns, self.obs[self.length], cut, episodes)


@dataclass(frozen=True)
class WholeEpisode:
    end: End
    columns: Columns
    """[length, ...]"""

    def trace(self, version: int, *, keep_obs: bool) -> Trace:
        """To be stored; `version`: env steps its policy had learned from."""
        end, columns = self.end, self.columns
        seen = np.concatenate([columns["obs"], end.final_obs[None]]) if keep_obs else None
        return Trace(
            seed=end.episode.seed,
            env=end.env,
            action=columns["env_action"],
            reward=columns["reward"],
            value=columns["value"],
            dist=columns["dist"],
            obs=seen,
            terminated=end.terminated,
            truncated=end.episode.truncated,
            raw_return=end.episode.raw_return,
            version=version,
        )


def of_whole_episodes(episodes: Sequence[WholeEpisode], columns: Mapping[str, Array]) -> Rollout:
    """A rollout of finished episodes only: those of a copy follow each other in its column, and what
    the shorter columns lack is not valid. `columns` tells kinds and shapes."""
    n = columns["reward"].shape[1]
    used = [0] * n
    places = []
    for whole in episodes:
        env = whole.end.env
        places.append(slice(used[env], used[env] + len(whole.columns["reward"])))
        used[env] = places[-1].stop
    padded = {
        name: np.zeros((max([*used, 1]), n, *column.shape[2:]), column.dtype)
        for name, column in columns.items()
    }
    cut = []
    for whole, place in zip(episodes, places, strict=True):
        env = whole.end.env
        for name, column in whole.columns.items():
            padded[name][place, env] = column
        if not whole.end.terminated:
            cut.append((place.stop - 1, env, whole.end.final_obs))
    if "mask" in padded:
        padded["mask"][~padded["valid"]] = True
    finished = tuple(whole.end.episode for whole in episodes)
    return _rollout(padded, padded["obs"][-1], cut, finished)


_FLAGS = ("terminated", "done", "start", "valid")


def _rollout(
    columns: Mapping[str, Array],
    last_obs: Array,
    cut: Sequence[tuple[int, int, Array]],
    episodes: tuple[Episode, ...],
) -> Rollout:
    given = {name: column for name, column in columns.items() if name != "env_action"}
    return Rollout(
        **{"mask": None, **given},  # type: ignore[arg-type]
        last_obs=last_obs,
        cut_obs=np.array([obs for _, _, obs in cut], last_obs.dtype).reshape(
            -1, *last_obs.shape[1:]
        ),
        cut_at=(
            np.array([t for t, _, _ in cut], dtype=np.int64),
            np.array([env for _, env, _ in cut], dtype=np.int64),
        ),
        memory=None,
        episodes=episodes,
    )


def _values(policy: Policy, obs: Array, ends: Sequence[End]) -> tuple[Array, Array]:
    """V of every observation [T, N], and of every true successor, in two calls of the critic."""
    steps, n = obs.shape[0] - 1, obs.shape[1]
    value = policy.value(obs.reshape(-1, *obs.shape[2:])).reshape(steps + 1, n)
    next_value = value[1:].copy()
    cut = [end for end in ends if not end.terminated]
    if cut:
        final = policy.value(np.stack([end.final_obs for end in cut]))
        next_value[[end.t for end in cut], [end.env for end in cut]] = final
    return value[:-1], next_value
