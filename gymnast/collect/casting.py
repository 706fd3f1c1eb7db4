"""Who plays which role in a match, and how somebody who does not learn plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from gymnast.config.sections.league import LEARNER
from gymnast.envs.matches.matches import Role, Scripted
from gymnast.policy.actions import head_for
from gymnast.policy.policy import Policy

Array = np.ndarray

Player = Callable[[Array, Array, Array], Array]
"""(obs [k, ...], noise of the action head [k, ...], even noise [k]) -> actions as the environment takes
them, [k, ...]. It remembers nothing."""
Cast = Mapping[str, str]
"""Role -> who plays it: `learner`, or the name of an opponent."""


class Casting(Protocol):
    def cast(self, match: int, number: int) -> Cast:
        """Of the match that begins, the so manieth of its place."""
        ...

    def player(self, role: str, name: str) -> Player: ...


class AllLearn:
    """Every role is played by whoever learns it."""

    def __init__(self, roles: Mapping[str, Role]) -> None:
        self._cast = dict.fromkeys(roles, LEARNER)

    def cast(self, match: int, number: int) -> Cast:
        return self._cast

    def player(self, role: str, name: str) -> Player:
        raise LookupError(f"{role} is learned, not played by {name}")


def sampling_player(policy: Policy) -> Player:
    """A policy that draws its actions, as it did when it learned."""

    def play(obs: Array, noise: Array, _: Array) -> Array:
        return policy.head.for_env(policy.head.sample(policy.dist(obs), noise))

    return play


def greedy_player(policy: Policy) -> Player:
    """A policy that takes its likeliest action."""

    def play(obs: Array, *_: Array) -> Array:
        return policy.head.for_env(policy.head.mode(policy.dist(obs)))

    return play


def scripted_player(scripted: Scripted) -> Player:
    def play(obs: Array, _: Array, even: Array) -> Array:
        return scripted(obs, even)

    return play


def random_player(role: Role) -> Player:
    """Without looking: as a policy whose outputs are all 0."""
    head = head_for(role.action)

    def play(obs: Array, noise: Array, _: Array) -> Array:
        outputs = np.zeros((len(obs), head.n_outputs), np.float32)
        free = np.zeros(head.n_outputs, np.float32)  # deviations of 1, where there are amounts
        return head.for_env(head.sample(head.parameters(outputs, free, None), noise))

    return play
