"""For environments with a table of transitions: Taxi, FrozenLake, CliffWalking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gymnast.envs.build.make import make_env
from gymnast.errors import ConfigError
from gymnast.shaping.steps import Scene, Seen, Steps
from gymnast.spaces.observations import DiscreteObs

Array = np.ndarray
Table = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]
"""State -> action -> what may follow: (probability, state, reward, whether it is an end)."""


class Progress:
    """Potential: minus the fewest steps from a state to an end that is rewarded."""

    def __init__(self, scene: Scene) -> None:
        if scene.env.tasks or not isinstance(scene.obs, DiscreteObs):
            raise ConfigError("progress is of one environment whose observation is its state")
        env = make_env(scene.env)
        table: Table | None = getattr(env.unwrapped, "P", None)
        env.close()
        if table is None:
            raise ConfigError(f"{scene.env.id} has no table of transitions (env.unwrapped.P)")
        self._first, self._steps = scene.obs.first, steps_to_go(table)

    def __call__(self, steps: Steps) -> Array:
        return steps.potential(self._nearness)

    def _nearness(self, seen: Seen) -> Array:
        return -self._steps[seen.rows - self._first]


def steps_to_go(table: Table) -> Array:
    """Fewest steps from each state to an end with a reward above 0; from where there is no way, one
    more than from anywhere else."""
    distance: dict[int, int] = {}
    leads_to: dict[int, set[int]] = {state: set() for state in table}
    for state, actions in table.items():
        for probability, following, reward, ends in _outcomes(actions):
            if ends and reward > 0 and probability > 0:
                distance[state] = 1
            elif not ends and probability > 0:
                leads_to[following].add(state)
    layer = list(distance)
    while layer:
        following = {state for reached in layer for state in leads_to[reached]}
        nearer = distance[layer[0]] + 1
        layer = sorted(following - distance.keys())
        distance |= dict.fromkeys(layer, nearer)
    lost = max(distance.values(), default=0) + 1
    return np.array([distance.get(state, lost) for state in sorted(table)], dtype=np.float64)


def _outcomes(actions: Mapping[int, Any]) -> list[tuple[float, int, float, bool]]:
    return [outcome for outcomes in actions.values() for outcome in outcomes]
