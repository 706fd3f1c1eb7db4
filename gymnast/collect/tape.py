"""One rollout while it is being played: what happened at each vector step, [T, N, ...]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.collect.ends import EpisodeEndRecorder, EpisodeEnds
from gymnast.collect.running import Columns, RunningEpisodes
from gymnast.images import ImageRecorder, Observed
from gymnast.policy.actions import AnyHead
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.spaces.observations import ImageObs, Observation
from gymnast.spaces.spaces import DiscreteAction

Array = np.ndarray


class RolloutBuffer:
    def __init__(
        self,
        space: Observation,
        obs: Array,
        head: AnyHead,
        capacity: int,
        start: Array,
        running: RunningEpisodes,
        step_keys: Sequence[str] = (),
    ) -> None:
        """`obs`: what all copies show now, [N, ...]; `start`: whether that opens an episode;
        `step_keys`: of the numbers that each step's info is asked for. The tape grows beyond its capacity
        if it must."""
        self.head, n = head, len(obs)
        self.length = 0
        self.taken = 0
        """Steps of single copies so far, learned from or not."""
        self.ends = EpisodeEndRecorder(obs, running)
        self.obs: Array | ImageRecorder
        if isinstance(space, ImageObs) and space.is_stack and space.channels != "unknown":
            self.obs = ImageRecorder(obs, space.channels, capacity + 1)
        else:
            self.obs = np.empty((capacity + 1, *obs.shape), obs.dtype)
        self.action = np.empty((capacity, n, *head.kind.shape), head.kind.dtype)
        self.dist = np.empty((capacity, n, head.n_parameters), np.float32)
        self.logprob = np.empty((capacity, n), np.float32)
        self.value = np.empty((capacity + 1, n), np.float32)
        self.reward = np.empty((capacity, n))
        self.valid = np.ones((capacity, n), dtype=bool)
        self.terminated, self.done = (np.zeros((capacity, n), dtype=bool) for _ in range(2))
        self.start = np.zeros((capacity + 1, n), dtype=bool)
        self.start[0] = start
        self.numbers: Array | None = None
        """What the infos of the steps hold under those keys, [T, N, keys]."""
        if step_keys:
            self.numbers = np.full((capacity, n, len(step_keys)), np.nan)
            self._info_dtype = np.dtype([(key, np.float64) for key in step_keys])
        self.mask: Array | None = None
        """Once an environment has said what it allows."""
        self._given: Array | None = None
        self._given_as_chosen = isinstance(head.space, DiscreteAction) and head.space.first == 0

    def grow(self) -> None:
        if self.length == len(self.reward):
            for name in _GROWING:
                column = getattr(self, name)
                if isinstance(column, Array):
                    more = np.full_like(column, name in ("valid", "mask"))
                    setattr(self, name, np.concatenate([column, more]))

    def record_obs(self, obs: Array) -> Array:
        """Note what the copies show before this step, [N, ...]; a copy of it, for this step."""
        if isinstance(self.obs, ImageRecorder):
            return self.obs.record(self.length, obs)
        shown = self.obs[self.length]
        shown[...] = obs
        return shown

    def record_mask(self, allowed: Array | None) -> Array | None:
        """Note which actions the copies allow in this step; the row that says so."""
        if allowed is None:
            return None
        if self.mask is None:
            self.mask = np.ones((len(self.reward), *allowed.shape), dtype=bool)
        self.mask[self.length] = allowed
        return self.mask[self.length]

    def note_numbers(self, numbers: Array | None) -> None:
        """Of the infos of this step, [N, keys]; None where no copy gave any."""
        assert self.numbers is not None
        self.numbers[self.length] = np.nan if numbers is None else numbers

    def for_env(self, action: Array) -> Array:
        """This step's actions as the environments take them."""
        if self._given_as_chosen:
            return action
        given = self.head.for_env(action)
        if self._given is None:
            self._given = np.empty((len(self.reward), *given.shape), given.dtype)
        self._given[self.length] = given
        return given

    def drop(self, env: int, episode_steps: int) -> None:
        """The step being played broke this copy: its episode, of so many steps before, never was."""
        t = self.length
        self.valid[max(t - episode_steps, 0) : t + 1, env] = False
        self.reward[t, env] = 0.0
        self.terminated[t, env] = self.done[t, env] = self.start[t + 1, env] = True

    def columns(self, policy: Policy, ends: EpisodeEnds) -> Columns:
        """Everything but the observation that comes after the last step, with what the critic says
        of each state and of each true successor."""
        steps = self.length
        value, next_value = self._values(policy, ends)
        own = {name: getattr(self, name)[:steps] for name in _OWN}
        given = own["action"] if self._given is None else self._given[:steps]
        columns = own | {"env_action": given, "value": value, "next_value": next_value}
        if self.numbers is not None:
            columns["info"] = self.numbers[:steps].view(self._info_dtype)[..., 0]
        return columns if self.mask is None else columns | {"mask": self.mask[:steps]}

    def _values(self, policy: Policy, ends: EpisodeEnds) -> tuple[Array, Array]:
        """V of every observation [T, N], and of every true successor, in two calls of the critic."""
        steps, n = self.length, self.reward.shape[1]
        if policy.values_while_acting:
            self.value[steps] = policy.value(np.asarray(self.obs[steps]))
            value = self.value[: steps + 1]
        else:
            shown = np.asarray(self.obs[: steps + 1])
            value = policy.value(shown.reshape(-1, *shown.shape[2:])).reshape(steps + 1, n)
        next_value = value[1:].copy()
        cut_at, cut_obs = ends.cut()
        if len(cut_obs):
            next_value[cut_at] = policy.value(cut_obs)
        return value[:-1], next_value

    def as_rollout(self, columns: Mapping[str, Observed], ends: EpisodeEnds) -> Rollout:
        """All of the tape."""
        return rollout_of(columns, np.asarray(self.obs[self.length]), ends)


def rollout_of(columns: Mapping[str, Observed], last_obs: Array, ends: EpisodeEnds) -> Rollout:
    given = {name: column for name, column in columns.items() if name != "env_action"}
    cut_at, cut_obs = ends.cut()
    return Rollout(
        **{"mask": None, **given},  # type: ignore[arg-type]
        last_obs=last_obs,
        cut_obs=cut_obs,
        cut_at=cut_at,
        memory=None,
        episodes=ends.episodes,
    )


_OWN = ("obs", "action", "dist", "logprob", "reward", "terminated", "done", "start", "valid")
_GROWING = (*_OWN, "value", "mask", "_given", "numbers")
