"""Storage for one rollout while it is being collected: every column is [T, N, ...]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gymnast.collect.episode_ends import EpisodeEndRecorder, EpisodeEnds
from gymnast.collect.policy_states import StateRecorder
from gymnast.collect.running_episodes import Columns, RunningEpisodes
from gymnast.images import ImageRecorder, ObsArray
from gymnast.policy.head import Head
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.spaces.observations import ImageObs, Observation

Array = np.ndarray


class RolloutBuffer:
    """The columns of a rollout, written in place step by step and sliced to their length at the end.

    `obs`, `value` and `start` have one row more than the others: that of the state after the last step.
    """

    def __init__(
        self,
        space: Observation,
        obs: Array,
        head: Head,
        capacity: int,
        start: Array,
        running: RunningEpisodes,
        step_keys: Sequence[str] = (),
        states: StateRecorder | None = None,
    ) -> None:
        """`obs`: current observations of all copies, [N, ...]; `start`: whether each is the first of an
        episode, [N]; `step_keys`: keys of `info` that are recorded at every step; `states`: the
        policy states of a policy with memory. Without `grow`, the buffer holds `capacity` vector steps."""
        self.head, n = head, len(obs)
        self.states = states
        self.length = 0
        """Vector steps recorded so far: the index of the next step."""
        self.env_steps = 0
        """Env steps so far, summed over the copies, whether or not they are valid for learning."""
        self.ends = EpisodeEndRecorder(obs, running)
        self.obs: Array | ImageRecorder
        # Consecutive stacks of k frames share k - 1 of them, so each frame is stored once.
        if isinstance(space, ImageObs) and space.is_stack and space.channels != "unknown":
            self.obs = ImageRecorder(obs, space.channels, capacity + 1)
        else:
            self.obs = np.empty((capacity + 1, *obs.shape), obs.dtype)
        # np.empty where every step writes its row anyway; zeros and ones where usually nothing is written
        self.action = np.empty((capacity, n, *head.action_spec.shape), head.action_spec.dtype)
        self.dist = np.empty((capacity, n, head.dist_size), np.float32)
        """Parameters of the distribution from which each action was sampled, [T, N, k]."""
        self.logprob = np.empty((capacity, n), np.float32)
        self.value = np.empty((capacity + 1, n), np.float32)
        self.reward = np.empty((capacity, n))
        self.valid = np.ones((capacity, n), dtype=bool)
        self.terminated, self.done = (np.zeros((capacity, n), dtype=bool) for _ in range(2))
        self.start = np.zeros((capacity + 1, n), dtype=bool)
        self.start[0] = start
        self.info: Array | None = None
        """Values of `info[key]` for each of the step keys, [T, N, keys]; None without step keys."""
        if step_keys:
            self.info = np.full((capacity, n, len(step_keys)), np.nan)
            self._info_dtype = np.dtype([(key, np.float64) for key in step_keys])
        self.mask: Array | None = None
        """Allowed actions, [T, N, actions]; None until an environment returns an action mask."""
        self._env_action: Array | None = None
        """Actions in the environment's format, [T, N, ...]; None where they are equal to `action`."""
        # The policy's actions are counted from 0, which such an environment takes as they are.
        self._env_takes_action = (
            head.space.n_choices is not None and not head.space.elements[0].first
        )

    def grow(self) -> None:
        """Doubles the capacity if the buffer is full."""
        if self.length == len(self.reward):
            for name in _GROWING:
                column = getattr(self, name)
                if isinstance(column, Array):
                    # These two default to True; every other column is 0 until its step is recorded.
                    new_rows = np.full_like(column, name in ("valid", "mask"))
                    setattr(self, name, np.concatenate([column, new_rows]))

    def record_obs(self, obs: Array) -> Array:
        """Stores the observations before this step, [N, ...], and returns the stored copy.

        The policy must act on the copy: backends overwrite `obs` in place with the next step.
        """
        if isinstance(self.obs, ImageRecorder):
            return self.obs.record(self.length, obs)
        row = self.obs[self.length]
        row[...] = obs
        return row

    def record_mask(self, allowed: Array | None) -> Array | None:
        """Stores the actions that the copies allow in this step, [N, options], and returns the stored row;
        None if there is no mask."""
        if allowed is None:
            return None
        if self.mask is None:
            self.mask = np.ones((len(self.reward), *allowed.shape), dtype=bool)
        self.mask[self.length] = allowed
        return self.mask[self.length]

    def record_info(self, values: Array | None) -> None:
        """Stores the step keys' values of this step, [N, keys]; None if no copy returned any."""
        assert self.info is not None
        self.info[self.length] = np.nan if values is None else values

    def begin_state(self) -> Array | None:
        """Returns the policy states of all copies before this step, [N, S], which acting replaces by those
        after it; None without memory."""
        if self.states is None:
            return None
        return self.states.begin_step(self.length, self.start[self.length])

    @property
    def state(self) -> Array | None:
        """The policy states of all copies after the step that was recorded last; None without memory."""
        return None if self.states is None else self.states.state

    def to_env_action(self, action: Array) -> Array:
        """Returns (and stores) this step's actions in the environment's format."""
        if self._env_takes_action:
            return action
        env_action = self.head.for_env(action)
        if self._env_action is None:
            self._env_action = np.empty((len(self.reward), *env_action.shape), env_action.dtype)
        self._env_action[self.length] = env_action
        return env_action

    def invalidate_episode(self, env: int, episode_steps: int) -> None:
        """Marks the episode of a copy that broke in this step as not valid, including its `episode_steps`
        earlier steps."""
        t = self.length
        # Steps in earlier rollouts were learned from already and stay so (decision 0006).
        self.valid[max(t - episode_steps, 0) : t + 1, env] = False
        self.reward[t, env] = 0.0
        # Ending the episode here keeps GAE from crossing into the next one.
        self.terminated[t, env] = self.done[t, env] = self.start[t + 1, env] = True

    def columns(self, policy: Policy, ends: EpisodeEnds) -> Columns:
        """Returns all columns, [T, N, ...], with the critic's values of each observation and of its true
        successor. `ends`: the episodes that ended in this rollout. The observation after the last step is not
        included."""
        steps = self.length
        value, next_value = self._values(policy, ends)
        own = {name: getattr(self, name)[:steps] for name in _OWN}
        env_action = own["action"] if self._env_action is None else self._env_action[:steps]
        columns = own | {"env_action": env_action, "value": value, "next_value": next_value}
        if self.info is not None:
            columns["info"] = self.info[:steps].view(self._info_dtype)[..., 0]
        return columns if self.mask is None else columns | {"mask": self.mask[:steps]}

    def _values(self, policy: Policy, ends: EpisodeEnds) -> tuple[Array, Array]:
        """Returns V of every observation and V of its true successor, both [T, N], with at most two calls of
        the critic. The true successor of a truncated step is the final observation of its episode, not the
        first of the next."""
        steps = self.length
        if policy.values_while_acting:  # only the state after the last step is missing
            last = np.asarray(self.obs[steps])
            self.value[steps] = policy.value(last, self.begin_state())
            return self.value[:steps], next_values(policy, self.value[: steps + 1], ends)
        obs = np.asarray(self.obs[: steps + 1])
        value = values_of(policy, obs)
        return value[:-1], next_values(policy, value, ends)

    def sequences(self) -> tuple[Array | None, Array | None]:
        """Returns the policy states before the first step of each sequence, [K, N, S], and the sequences, [K,
        2], that a policy with memory is trained on; (None, None) without memory."""
        return (None, None) if self.states is None else self.states.complete(self.length)

    def as_rollout(self, columns: Mapping[str, ObsArray], ends: EpisodeEnds) -> Rollout:
        """Returns everything in the buffer as a rollout."""
        rollout = make_rollout(columns, np.asarray(self.obs[self.length]), ends)
        memory, sequences = self.sequences()
        return replace(rollout, memory=memory, sequences=sequences)


def values_of(policy: Policy, obs: Array) -> Array:
    """Returns the values of observations [T, N, ...], [T, N], with one call of the critic."""
    return policy.value(obs.reshape(-1, *obs.shape[2:])).reshape(obs.shape[:2])


def next_values(policy: Policy, value: Array, ends: EpisodeEnds) -> Array:
    """Returns the value of the true successor of each step, [T, N]. `value`: the values of all observations
    and of those after the last step, [T + 1, N]; `ends`: the episodes that ended."""
    # Where an episode ended, value[t + 1] belongs to the first state of the next one. That does not
    # matter after a termination, where nothing is bootstrapped, but it does after a truncation.
    next_value = value[1:].copy()
    cut_at, cut_obs = ends.truncations()
    if len(cut_obs):
        next_value[cut_at] = policy.value(cut_obs, ends.truncated_states())
    return next_value


def make_rollout(columns: Mapping[str, ObsArray], last_obs: Array, ends: EpisodeEnds) -> Rollout:
    """Returns a rollout with these columns, [T, N, ...]. `last_obs`: observations after the last step, [N,
    ...]. Actions in the environment's format are left out, since they are for traces only."""
    fields = {name: column for name, column in columns.items() if name != "env_action"}
    return Rollout(
        **{"mask": None, **fields},  # type: ignore[arg-type]
        last_obs=last_obs,
        final_obs=ends.final_obs,
        final_at=(ends.t, ends.env),
        memory=None,
        episodes=ends.episodes,
    )


_OWN = ("obs", "action", "dist", "logprob", "reward", "terminated", "done", "start", "valid")
"""Attributes that are columns of a rollout as they are."""
_GROWING = (*_OWN, "value", "mask", "_env_action", "info")
"""Attributes that `grow` enlarges; an `ImageRecorder` grows by itself."""
