"""The complete state of all matches, as arrays whose first axis is the match.

Matches are copied and written back row by row. Checkpoints store exactly these arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from gymnast.envs.matches.tag.layout import N_BOXES
from gymnast.errors import CheckpointError

Array = np.ndarray
NEVER = -1
"""Value of `seen_when` before the first sighting."""


@dataclass
class State:
    """The state of N matches with B boxes (walls) and K agents, seekers first."""

    middle: Array
    """Centers of the boxes, [N, B, 2]."""
    half: Array
    """Half of their widths, [N, B, 2]."""
    position: Array
    """Centers of the agents, [N, K, 2]."""
    velocity: Array
    """Units per step, [N, K, 2]."""
    heading: Array
    """Index of the direction the agent faces, 0 to HEADINGS - 1, [N, K]."""
    cooldown: Array
    """Steps until the next dash is possible, [N, K]."""
    in_play: Array
    """Whether the agent is in play, [N, K]."""
    tagged: Array
    """Whether the agent is a hider that was tagged in this match, [N, K]."""
    clock: Array
    """Number of steps in the match so far, [N]."""
    pace: Array
    """The role's handicap at the start of the match, a factor for its speeds, [N, K]."""
    nearest: Array
    """Distance to the nearest opponent in play, [N, K]."""
    seen_who: Array
    """Index of the opponent seen last, [N, K]."""
    seen_at: Array
    """Position at which it was seen, [N, K, 2]."""
    seen_when: Array
    """The clock at that time, or NEVER, [N, K]."""
    seen_now: Array
    """Whether the agent sees an opponent now, [N, K]."""
    distance: Array
    """Distance between the closest seeker and hider, summed over steps, [N]."""
    watched: Array
    """Number of steps in which a seeker saw or tagged a hider, [N]."""

    def rows(self, matches: Array) -> State:
        """Returns a copy of these matches."""
        return State(**{name: column[matches] for name, column in self.columns().items()})

    def put(self, matches: Array, rows: State) -> None:
        """Writes `rows` into these matches."""
        own = self.columns()
        for name, column in rows.columns().items():
            own[name][matches] = column

    def columns(self) -> dict[str, Array]:
        """Returns all arrays by name, not copied."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Copies stored arrays into these. Raises CheckpointError if their shapes differ."""
        for name, column in self.columns().items():
            if name not in arrays or arrays[name].shape != column.shape:
                stored = arrays[name].shape if name in arrays else "absent"
                what = (
                    f"the stored matches of tag do not fit: {name} is {stored}, not {column.shape}"
                )
                raise CheckpointError(what, fix="keep the number of matches, seekers and hiders")
            column[...] = arrays[name]


def blank_state(n: int, agents: int) -> State:
    """Returns the state of n matches with this number of agents, before their first reset, with no agent in
    play."""

    def each(*shape: int, kind: type = float) -> Array:
        return np.zeros((n, *shape), kind)

    xy, integer = (agents, 2), {"kind": int}
    return State(
        middle=each(N_BOXES, 2),
        half=each(N_BOXES, 2),
        position=each(*xy),
        velocity=each(*xy),
        heading=each(agents, **integer),
        cooldown=each(agents, **integer),
        in_play=each(agents, kind=bool),
        tagged=each(agents, kind=bool),
        clock=each(**integer),
        pace=each(agents) + 1.0,
        nearest=each(agents),
        seen_who=each(agents, **integer),
        seen_at=each(*xy),
        seen_when=each(agents, **integer) + NEVER,
        seen_now=each(agents, kind=bool),
        distance=each(),
        watched=each(**integer),
    )
