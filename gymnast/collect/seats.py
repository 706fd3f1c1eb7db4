"""One role's seats in all matches while a rollout is played: what its agents saw, did and got.

A seat is one agent's place in one match; those of a role are the columns of its rollout. Steps in
which somebody else sat there, or nobody was in play, are not valid: nothing is learned from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gymnast.collect.casting import LEARNER, Player
from gymnast.collect.running import RunningEpisodes
from gymnast.collect.tape import RolloutBuffer
from gymnast.envs.backends.backend import any_of
from gymnast.envs.matches.matches import Role
from gymnast.policy.actions import head_for
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.seeds import stream

Array = np.ndarray
_OWN = ("start", "playing", "learns")


class Seats:
    def __init__(self, name: str, role: Role, n_matches: int) -> None:
        self.name, self.role = name, role
        self.n = n_matches * role.seats
        self.running = RunningEpisodes(self.n)
        self.start = np.ones(self.n, dtype=bool)
        """What the agent sees now opens its part of a match."""
        self.playing = np.ones(self.n, dtype=bool)
        """The agent is in play."""
        self.learns = np.ones(self.n, dtype=bool)
        """It is played by the policy that learns."""
        self.others: list[tuple[Player, Array]] = []
        """Who else plays here, and in which seats."""
        self.given: list[Array] = []
        """Actions as the environment took them, [n, ...] of each step."""
        self.rewards: list[Array] = []
        self._tape: RolloutBuffer | None = None
        self._policy: Policy | None = None

    def of(self, matches: Sequence[int] | Array) -> Array:
        """The seats of these matches."""
        first = np.asarray(matches, dtype=np.int64)[:, None] * self.role.seats
        return (first + np.arange(self.role.seats)).reshape(-1)

    def cast(self, names: Sequence[str], player: Callable[[str, str], Player]) -> None:
        """`names`: who plays this role in each match."""
        by_name: dict[str, list[int]] = {}
        for match, name in enumerate(names):
            by_name.setdefault(name, []).append(match)
        self.learns[:] = False
        self.learns[self.of(by_name.pop(LEARNER, []))] = True
        self.others = [(player(self.name, n), self.of(where)) for n, where in by_name.items()]

    # ---- a rollout ---------------------------------------------------------------------------

    def begin(self, policy: Policy | None, obs: Array, steps: int, seed: int, rollout: int) -> None:
        """`policy`: whoever learns, if anybody does."""
        self._policy, self.given, self.rewards = policy, [], []
        head = policy.head if policy is not None else head_for(self.role.action)
        draws = stream(seed, "action", self.name, rollout)
        self._noise = head.noise(draws, (steps, self.n))
        others = stream(seed, "opponent", self.name, rollout)
        self._their_noise = head.noise(others, (steps, self.n))
        self._even = others.random((steps, self.n))
        self._tape = None
        if policy is not None:
            obs = obs.reshape(self.n, *obs.shape[2:])
            self._tape = RolloutBuffer(policy.obs, obs, head, steps, self.start, self.running)

    def act(self, t: int, obs: Array) -> Array:
        """Everybody's actions as the environment takes them, [matches, seats, ...]."""
        shown, n_seats = obs.reshape(self.n, *obs.shape[2:]), self.role.seats
        given: Array | None = None
        if self._tape is not None and self._policy is not None:
            tape, policy = self._tape, self._policy
            rows = tape.action[t], tape.dist[t], tape.logprob[t], tape.value[t]
            policy.act_into(tape.record_obs(shown), self._noise[t], None, *rows)
            given = policy.head.for_env(tape.action[t])
            if self.others:
                given = given.copy()
        for play, seats in self.others:
            theirs = play(shown[seats], self._their_noise[t, seats], self._even[t, seats])
            if given is None:
                given = np.zeros((self.n, *theirs.shape[1:]), theirs.dtype)
            given[seats] = theirs
        assert given is not None, f"nobody plays {self.name}"
        self.given.append(given)
        return given.reshape(-1, n_seats, *given.shape[1:])

    def record(
        self, t: int, reward: Array, terminated: Array, truncated: Array, obs: Array, broken: Array
    ) -> None:
        """What a step brought; `broken`: seats of matches whose step counts for nothing."""
        in_play = self.playing
        self.start[:] = False
        reward = np.where(in_play, reward.reshape(self.n), 0.0)
        ended, cut = (x.reshape(self.n) & in_play for x in (terminated, truncated))
        if len(broken):
            reward[broken] = 0.0
            ended[broken] = cut[broken] = False
        self.rewards.append(reward)
        self.running.raw_return += reward
        tape = self._tape
        if tape is not None:
            tape.reward[t] = reward
            np.logical_and(in_play, self.learns, out=tape.valid[t])
            tape.taken += int(np.count_nonzero(tape.valid[t]))
            for seat in broken.tolist():
                tape.drop(seat, int(self.running.length[seat]))
        self.running.length += in_play
        if any_of(ended) or any_of(cut):
            over = ended | cut
            if tape is not None:
                tape.terminated[t] |= ended
                tape.done[t] |= over
                (own,) = (over & self.learns).nonzero()
                if len(own):
                    tape.ends.record(t, own, ended, obs.reshape(self.n, *obs.shape[2:]), ())
            self.playing = in_play & ~over
            self.running.clear(np.flatnonzero(over))
        if tape is not None:
            tape.length += 1

    def reset(self, seats: Array, seeds: Array) -> None:
        """A match begins for these."""
        self.running.start_episodes(seats, seeds.tolist())
        self.playing[seats] = True
        self.start[seats] = True

    def turn(self, t: int) -> None:
        """After a step and its resets: what is seen next."""
        if self._tape is not None:
            self._tape.start[t + 1] = self.start

    def finish(self, obs: Array) -> Rollout | None:
        """What can be learned from; None where nobody learns."""
        tape, policy = self._tape, self._policy
        if tape is None or policy is None:
            return None
        tape.record_obs(obs.reshape(self.n, *obs.shape[2:]))
        ends = tape.ends.all()
        return tape.as_rollout(tape.columns(policy, ends), ends)

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        own = {name: getattr(self, name).copy() for name in _OWN}
        return own | self.running.state(past=False)

    def load(self, arrays: Mapping[str, Array]) -> None:
        self.running.load(dict(arrays))
        for name in _OWN:
            setattr(self, name, arrays[name].astype(bool))
