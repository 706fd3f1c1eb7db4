"""Casting decides who plays which role in a match; players are the opponents that do not learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from gymnast.config.sections.league import LEARNER
from gymnast.envs.matches.matches import Role, ScriptedPolicy
from gymnast.policy.actions import head_for
from gymnast.policy.policy import Policy

Array = np.ndarray

Player = Callable[[Array, Array, Array], Array]
"""A stateless function of (obs [k, ...], noise for the action head [k, ...], uniform noise [k]) that returns
actions in the environment's format, [k, ...]."""
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


def sampling_player(policy: Policy) -> Player:
    """Returns a player that samples from the policy's distribution, as during training."""

    def play(obs: Array, noise: Array, _: Array) -> Array:
        return policy.head.for_env(policy.head.sample(policy.dist(obs), noise))

    return play


def greedy_player(policy: Policy) -> Player:
    """Returns a player that takes the policy's most likely action."""

    def play(obs: Array, *_: Array) -> Array:
        return policy.head.for_env(policy.head.mode(policy.dist(obs)))

    return play


def scripted_player(scripted: ScriptedPolicy) -> Player:
    """Returns a player that follows a scripted policy of the environment."""

    def play(obs: Array, _: Array, uniform: Array) -> Array:
        return scripted(obs, uniform)

    return play


def random_player(role: Role) -> Player:
    """Returns a player that ignores the observation: it samples like a policy whose outputs are all 0."""
    head = head_for(role.action)

    def play(obs: Array, noise: Array, _: Array) -> Array:
        outputs = np.zeros((len(obs), head.n_outputs), np.float32)
        log_std = np.zeros(head.n_outputs, np.float32)  # used by Gaussian heads only: std 1
        return head.for_env(head.sample(head.dist_parameters(outputs, log_std, None), noise))

    return play
