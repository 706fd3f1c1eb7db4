"""Casting decides who plays which role in a match; players are the opponents that do not learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gymnast.config.sections.league import LEARNER
from gymnast.envs.matches.matches import Role, ScriptedPolicy
from gymnast.policy.actions import head_for
from gymnast.policy.policy import Policy

Array = np.ndarray

StatelessPlayer = Callable[[Array, Array, Array], Array]
"""A function of (obs [k, ...], noise for the action head [k, ...], uniform noise [k]) that returns actions in
the environment's format, [k, ...]."""


@dataclass(frozen=True)
class MemoryPlayer:
    """A player with memory. It keeps no state itself: `SeatStates` does, for every seat."""

    state_size: int
    """Number of floats in the state of one seat, S."""
    play: Callable[[Array, Array, Array, Array], Array]
    """A function as a stateless player's, with the states [k, S] as its last argument, which it replaces by
    those after the step."""


Player = StatelessPlayer | MemoryPlayer
Cast = Mapping[str, str]
"""Maps each role to who plays it: `learner`, or the name of an opponent."""


class Matchmaker(Protocol):
    """Decides who plays. Its answers must be functions of their arguments and of checkpointed state, so that
    a resumed run casts the same matches."""

    def cast(self, match: int, number: int) -> Cast:
        """Returns who plays the match that starts now in slot `match`, where `number` matches came before."""
        ...

    def player(self, role: str, name: str) -> Player:
        """Returns the player behind the name of an opponent."""
        ...


class SelfPlayMatchmaker:
    """Casts the learning policy in every role: plain self-play without opponents."""

    def __init__(self, roles: Mapping[str, Role]) -> None:
        self._cast = dict.fromkeys(roles, LEARNER)

    def cast(self, match: int, number: int) -> Cast:
        return self._cast

    def player(self, role: str, name: str) -> Player:
        raise LookupError(f"role {role} is played by its learner, not by {name}")


class SeatStates:
    """The states of the players with memory in n seats, whoever plays them. Stateless players have none."""

    def __init__(self, n: int) -> None:
        self.rows = np.zeros((n, 0), np.float32)
        """One row per seat, as wide as the widest state so far, [n, S]."""

    def reset(self, seats: Array | slice) -> None:
        """Sets the states of these seats to zero, because a match starts there."""
        self.rows[seats] = 0.0

    def act(
        self, player: Player, seats: Array | slice, obs: Array, noise: Array, uniform: Array
    ) -> Array:
        """Returns the actions of a player in these seats, [k, ...], and replaces their states by those after
        the step. The other arguments are those of a player, one row per seat of `seats`."""
        if not isinstance(player, MemoryPlayer):
            return player(obs, noise, uniform)
        size = player.state_size
        if size > self.rows.shape[1]:
            wider = np.zeros((len(self.rows), size), np.float32)
            wider[:, : self.rows.shape[1]] = self.rows
            self.rows = wider
        state = np.ascontiguousarray(self.rows[seats, :size])
        action = player.play(obs, noise, uniform, state)
        self.rows[seats, :size] = state
        return action


def sampling_player(policy: Policy) -> Player:
    """Returns a player that samples from the policy's distribution, as during training."""
    if policy.state_size:
        return _memory_player(policy, sampled=True)

    def play(obs: Array, noise: Array, _: Array) -> Array:
        return policy.head.for_env(policy.head.sample(policy.dist(obs), noise))

    return play


def greedy_player(policy: Policy) -> Player:
    """Returns a player that takes the policy's most likely action."""
    if policy.state_size:
        return _memory_player(policy, sampled=False)

    def play(obs: Array, *_: Array) -> Array:
        return policy.head.for_env(policy.head.mode(policy.dist(obs)))

    return play


def _memory_player(policy: Policy, *, sampled: bool) -> MemoryPlayer:
    """Returns the player of a policy with memory, which samples or takes the most likely action."""

    def play(obs: Array, noise: Array, _: Array, state: Array) -> Array:
        dist, _, state[:] = policy.step(obs, state)
        head = policy.head
        return head.for_env(head.sample(dist, noise) if sampled else head.mode(dist))

    return MemoryPlayer(policy.state_size, play)


def scripted_player(scripted: ScriptedPolicy) -> StatelessPlayer:
    """Returns a player that follows a scripted policy of the environment."""

    def play(obs: Array, _: Array, uniform: Array) -> Array:
        return scripted(obs, uniform)

    return play


def random_player(role: Role) -> StatelessPlayer:
    """Returns a player that ignores the observation: it samples like a policy whose outputs are all 0."""
    head = head_for(role.action)

    def play(obs: Array, noise: Array, _: Array) -> Array:
        outputs = np.zeros((len(obs), head.n_outputs), np.float32)
        log_std = np.zeros(head.n_outputs, np.float32)  # used by Gaussian heads only: std 1
        return head.for_env(head.sample(head.dist_parameters(outputs, log_std, None), noise))

    return play
