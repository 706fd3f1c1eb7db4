"""Positions of a single agent, read from its observations as the facts of the preset declare.

`facts.position` names the components that are x and y; `facts.grid` says how a Discrete observation numbers
the cells of a grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gymnast.config.config import Config
from gymnast.envs.matches.placement import Arena
from gymnast.spaces.observations import BoxObs, DiscreteObs, Observation
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.trajectories.trajectory import Position

Array = np.ndarray


@dataclass(frozen=True)
class PositionReader:
    """Reads positions from observations: of two components, or of the cells of a grid."""

    arena: Arena | None = None
    """The field, if the environment is a grid."""
    components: tuple[int, int] | None = None
    """Indices of x and y in a Box observation."""
    columns: int = 0
    """Number of columns of the grid."""
    first: int = 0
    """The smallest Discrete observation."""

    def read(self, obs: Array) -> tuple[Position, ...]:
        """Returns x and y of observations [T + 1, ...]."""
        if self.components is not None:
            points = obs.reshape(len(obs), -1)[:, self.components].astype(np.float64)
        else:
            assert self.arena is not None
            row, column = np.divmod(obs.reshape(len(obs)) - self.first, self.columns)
            # Row 0 is the upper one; positions are the middles of cells.
            points = np.stack([column + 0.5, self.arena.y[1] - row - 0.5], axis=1)
        return tuple((x, y) for x, y in points.tolist())


def position_reader(cfg: Config, space: Observation) -> PositionReader | None:
    """Returns the reader for the observations of a run; None if the facts declare no positions, or none that
    fit the observation space, which `gymnast check` reports."""
    facts = facts_for_policy_obs(cfg.facts, cfg.env, space)
    names = [component.name for component in facts.observations]
    if facts.position and isinstance(space, BoxObs) and space.size == len(names):
        x, y = map(names.index, facts.position)
        return PositionReader(components=(x, y))
    rows, columns = facts.grid or (0, 0)
    if rows and isinstance(space, DiscreteObs) and space.n == rows * columns:
        arena = Arena(x=(0.0, float(columns)), y=(0.0, float(rows)), radius=0.25)
        return PositionReader(arena=arena, columns=columns, first=space.first)
    return None
