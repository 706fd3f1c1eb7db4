"""A reward term for environments with a transition table: Taxi, FrozenLake, CliffWalking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gymnast.envs.build.make import make_env
from gymnast.errors import ConfigError
from gymnast.shaping.steps import ObsBatch, Steps, TermContext
from gymnast.spaces.observations import DiscreteObs

Array = np.ndarray
Table = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]
"""State -> action -> possible outcomes: (probability, next state, reward, terminated)."""


class Progress:
    """Shaping by a potential: minus the smallest number of steps from a state to a rewarded end."""

    def __init__(self, context: TermContext) -> None:
        if context.env.tasks or not isinstance(context.obs, DiscreteObs):
            raise ConfigError("progress needs a single environment whose observation is its state")
        env = make_env(context.env)
        table: Table | None = getattr(env.unwrapped, "P", None)
        env.close()
        if table is None:
            raise ConfigError(f"{context.env.id} has no transition table (env.unwrapped.P)")
        self._first, self._steps = context.obs.first, steps_to_go(table)

    def __call__(self, steps: Steps) -> Array:
        return steps.potential(self._nearness)

    def _nearness(self, obs: ObsBatch) -> Array:
        return -self._steps[obs.rows - self._first]


def steps_to_go(table: Table) -> Array:
    """Returns the smallest number of steps from each state to an end with a positive reward, [states], by
    breadth-first search from the end. States from which no such end can be reached get the largest
    distance plus one."""
    # 1. Invert the table: who can reach a state in one step, and who can reach a rewarded end.
    distance: dict[int, int] = {}
    predecessors: dict[int, set[int]] = {state: set() for state in table}
    for state, actions in table.items():
        for probability, next_state, reward, ends in _outcomes(actions):
            if ends and reward > 0 and probability > 0:
                distance[state] = 1
            elif not ends and probability > 0:
                predecessors[next_state].add(state)
    # 2. Breadth-first search: all states of a layer have the same distance.
    layer = list(distance)
    while layer:
        before = {state for reached in layer for state in predecessors[reached]}
        steps = distance[layer[0]] + 1
        layer = sorted(before - distance.keys())
        distance |= dict.fromkeys(layer, steps)
    unreachable = max(distance.values(), default=0) + 1
    return np.array([distance.get(state, unreachable) for state in sorted(table)], dtype=np.float64)


def _outcomes(actions: Mapping[int, Any]) -> list[tuple[float, int, float, bool]]:
    return [outcome for outcomes in actions.values() for outcome in outcomes]
