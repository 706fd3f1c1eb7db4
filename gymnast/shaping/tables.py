"""A reward term for environments with a transition table and a rewarded end: Taxi, FrozenLake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.envs.build.make import make_env
from gymnast.errors import ConfigError
from gymnast.shaping.steps import ObsBatch, Steps, TermContext
from gymnast.spaces.observations import DiscreteObs

Array = np.ndarray
Outcome = tuple[float, int, float, bool]
"""Probability, next state, reward and terminated."""
Table = Mapping[int, Mapping[int, Sequence[Outcome]]]
"""State -> action -> possible outcomes."""


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
        if not _states_before_goal(table):  # e.g. CliffWalking, whose goal gives -1
            raise ConfigError(
                f"no episode of {context.env.id} ends with a positive reward, so progress has no goal",
                fix="remove the term, or write one of your own (docs/shaping.md)",
            )
        self._first, self._steps = context.obs.first, steps_to_go(table)

    def __call__(self, steps: Steps) -> Array:
        return steps.potential(self._nearness)

    def _nearness(self, obs: ObsBatch) -> Array:
        return -self._steps[obs.rows - self._first]


def steps_to_go(table: Table) -> Array:
    """Returns the smallest number of steps from each state to an end with a positive reward, the ending step
    included, [states] in ascending order, by breadth-first search backwards from such ends, of which the
    table must have at least one.

    In a stochastic table, every outcome with a positive probability counts as reachable. States from which
    no such end can be reached get the largest distance plus one. That includes terminal states, whose
    potential is not used.
    """
    # 1. Invert the table: which states can reach a state in one step, and which a rewarded end.
    distance = dict.fromkeys(_states_before_goal(table), 1)
    predecessors: dict[int, set[int]] = {state: set() for state in table}
    for state, actions in table.items():
        for probability, next_state, _, ends in _outcomes(actions):
            if not ends and probability > 0:
                predecessors[next_state].add(state)
    # 2. Breadth-first search: all states of a layer have the same distance.
    layer = list(distance)
    while layer:
        before = {state for reached in layer for state in predecessors[reached]}
        steps = distance[layer[0]] + 1
        layer = sorted(before - distance.keys())
        distance |= dict.fromkeys(layer, steps)
    unreachable = max(distance.values()) + 1
    return np.array([distance.get(state, unreachable) for state in sorted(table)], dtype=np.float64)


def _states_before_goal(table: Table) -> list[int]:
    """Returns the states from which one step can end the episode with a positive reward."""
    return [
        state
        for state, actions in table.items()
        if any(p > 0 and reward > 0 and ends for p, _, reward, ends in _outcomes(actions))
    ]


def _outcomes(actions: Mapping[int, Sequence[Outcome]]) -> list[Outcome]:
    return [outcome for outcomes in actions.values() for outcome in outcomes]
