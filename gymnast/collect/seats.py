"""The seats of one role in all matches: chooses their actions and records the role's rollout.

A seat is one agent's place in one match. The seats of a role are the columns of its rollout. Steps in which
an opponent sat there, or in which the agent was already out of the match, are not valid: they are
excluded from learning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gymnast.collect.matchmaking import LEARNER, Player, SeatStates
from gymnast.collect.policy_states import StateRecorder
from gymnast.collect.rollout_buffer import RolloutBuffer
from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.envs.backends.backend import any_true
from gymnast.envs.matches.matches import Role
from gymnast.policy.actions import head_for
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.seeds import stream

Array = np.ndarray
_OWN = ("start", "playing", "learns")
"""Attributes that checkpoints store."""


class Seats:
    """All seats of one role, n = matches * seats per match, ordered by match."""

    def __init__(self, name: str, role: Role, n_matches: int) -> None:
        self.name, self.role = name, role
        self.n = n_matches * role.seats
        self.running = RunningEpisodes(self.n)
        self.start = np.ones(self.n, dtype=bool)
        """Whether the agent's current observation is its first in the match, [n]."""
        self.playing = np.ones(self.n, dtype=bool)
        """Whether the agent is still in the match, [n]: agents may finish before the match does."""
        self.learns = np.ones(self.n, dtype=bool)
        """Whether the learning policy plays the seat, [n]."""
        self.opponents: list[tuple[Player, Array]] = []
        """Each opponent in this role, with the indices of the seats it plays."""
        self.env_actions: list[Array] = []
        """Actions in the environment's format, one [n, ...] array per step of the rollout."""
        self.rewards: list[Array] = []
        """Rewards, one [n] array per step of the rollout; 0 for agents out of the match."""
        self.policy_state: Array | None = None
        """Policy states of the learner in all seats, [n, S]; None until a policy with memory acts."""
        self.opponent_states = SeatStates(self.n)
        self._buffer: RolloutBuffer | None = None
        self._policy: Policy | None = None

    def seats_of(self, matches: Sequence[int] | Array) -> Array:
        """Returns the indices of the seats in these matches."""
        first = np.asarray(matches, dtype=np.int64)[:, None] * self.role.seats
        return (first + np.arange(self.role.seats)).reshape(-1)

    def assign_players(self, names: Sequence[str], player: Callable[[str, str], Player]) -> None:
        """Assigns the seats. `names`: for each match, who plays this role; `player(role, name)` returns the
        player of that name."""
        # Grouped, so that each opponent acts once per step, on a batch of all its seats.
        by_name: dict[str, list[int]] = {}
        for match, name in enumerate(names):
            by_name.setdefault(name, []).append(match)
        self.learns[:] = False
        self.learns[self.seats_of(by_name.pop(LEARNER, []))] = True
        self.opponents = [(player(self.name, n), self.seats_of(ms)) for n, ms in by_name.items()]

    # ---- a rollout ---------------------------------------------------------------------------

    def begin_rollout(
        self, policy: Policy | None, obs: Array, steps: int, seed: int, rollout: int
    ) -> None:
        """Starts a rollout of `steps` steps and draws its noise. `policy` is None if the role does not learn;
        `obs`: current observations, [matches, seats, ...]; `seed`: root seed of the run; `rollout`: number of
        rollouts before this one."""
        self._policy, self.env_actions, self.rewards = policy, [], []
        head = policy.head if policy is not None else head_for(self.role.action)
        draws = stream(seed, "action", self.name, rollout)
        self._noise = head.noise(draws, (steps, self.n))  # [T, n, ...]
        # Opponents draw from a stream of their own: the learner's noise must not depend on them.
        opponent_draws = stream(seed, "opponent", self.name, rollout)
        self._opponent_noise = head.noise(opponent_draws, (steps, self.n))
        self._uniform_noise = opponent_draws.random((steps, self.n))
        self._buffer = None
        if policy is not None:
            obs = obs.reshape(self.n, *obs.shape[2:])
            states = StateRecorder.begin_rollout(policy, self.policy_state, self.n, steps)
            self._buffer = RolloutBuffer(
                policy.obs_space, obs, head, steps, self.start, self.running, states=states
            )
            self.policy_state = self._buffer.state

    def act(self, t: int, obs: Array) -> Array:
        """Returns the actions of all seats for step t of the rollout in the environment's format, [matches,
        seats, ...]. `obs`: [matches, seats, ...]."""
        obs, n_seats = obs.reshape(self.n, *obs.shape[2:]), self.role.seats
        env_action: Array | None = None
        if self._buffer is not None and self._policy is not None:
            buffer, policy = self._buffer, self._policy
            rows = buffer.action[t], buffer.dist[t], buffer.logprob[t], buffer.value[t]
            # One batch over all seats, whoever plays them; opponents' actions are filled in below.
            state = buffer.begin_state()
            policy.act_into(buffer.record_obs(obs), self._noise[t], None, *rows, state)
            env_action = policy.head.for_env(buffer.action[t])
            if self.opponents:
                env_action = (
                    env_action.copy()
                )  # it may be the buffer's own row, which is learned from
        for player, seats in self.opponents:
            noise, uniform = self._opponent_noise[t, seats], self._uniform_noise[t, seats]
            played = self.opponent_states.act(player, seats, obs[seats], noise, uniform)
            if env_action is None:
                env_action = np.zeros((self.n, *played.shape[1:]), played.dtype)
            env_action[seats] = played
        assert env_action is not None, f"nobody plays {self.name}"
        self.env_actions.append(env_action)
        return env_action.reshape(-1, n_seats, *env_action.shape[1:])

    def record(
        self, t: int, reward: Array, terminated: Array, truncated: Array, obs: Array, broken: Array
    ) -> None:
        """Records the result of step t, arrays [matches, seats, ...]; `broken` are the indices of the seats
        of matches that had a fault in it."""
        # 1. An agent that is out of the match gets no reward and cannot end again; a broken match has no
        # result at all.
        in_play = self.playing
        self.start[:] = False
        reward = np.where(in_play, reward.reshape(self.n), 0.0)
        ended, cut = (flags.reshape(self.n) & in_play for flags in (terminated, truncated))
        if len(broken):
            reward[broken] = 0.0
            ended[broken] = cut[broken] = False
        self.rewards.append(reward)
        self.running.raw_return += reward
        # 2. Store the step. Only steps of the learner's own seats are valid.
        buffer = self._buffer
        if buffer is not None:
            buffer.reward[t] = reward
            np.logical_and(in_play, self.learns, out=buffer.valid[t])
            buffer.env_steps += int(np.count_nonzero(buffer.valid[t]))
            for seat in broken.tolist():
                buffer.invalidate_episode(seat, int(self.running.length[seat]))
        # 3. Agents whose part of the match is over wait for the next match.
        self.running.length += in_play
        if any_true(ended) or any_true(cut):
            over = ended | cut
            if buffer is not None:
                buffer.terminated[t] |= ended
                buffer.done[t] |= over
                (own,) = (over & self.learns).nonzero()
                if len(own):
                    final = obs.reshape(self.n, *obs.shape[2:])
                    buffer.ends.record(t, own, ended, final, (), buffer.state)
            self.playing = in_play & ~over
            self.running.clear(np.flatnonzero(over))
        if buffer is not None:
            buffer.length += 1

    def reset(self, seats: Array, seeds: Array) -> None:
        """Starts a match in these seats, each with the seed of its match."""
        self.running.start_episodes(seats, seeds.tolist())
        self.opponent_states.reset(seats)
        self.playing[seats] = True
        self.start[seats] = True

    def record_starts(self, t: int) -> None:
        """Records which seats start a match with the observation after step t; call it after the resets."""
        if self._buffer is not None:
            self._buffer.start[t + 1] = self.start

    def finish(self, obs: Array) -> Rollout | None:
        """Returns the role's rollout, or None if the role does not learn. `obs`: observations after the last
        step, [matches, seats, ...]."""
        buffer, policy = self._buffer, self._policy
        if buffer is None or policy is None:
            return None
        buffer.record_obs(obs.reshape(self.n, *obs.shape[2:]))
        ends = buffer.ends.all()
        return buffer.as_rollout(buffer.columns(policy, ends), ends)

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        own = {name: getattr(self, name).copy() for name in _OWN}
        if self.policy_state is not None:
            own["policy_state"] = self.policy_state.copy()
        if self.opponent_states.rows.size:
            own["opponent_state"] = self.opponent_states.rows.copy()
        return own | self.running.state(with_steps=False)

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.running.load(dict(arrays))
        for name in _OWN:
            setattr(self, name, arrays[name].astype(bool))
        self.policy_state = arrays["policy_state"].copy() if "policy_state" in arrays else None
        self.opponent_states = SeatStates(self.n)
        if "opponent_state" in arrays:
            self.opponent_states.rows = arrays["opponent_state"].copy()
