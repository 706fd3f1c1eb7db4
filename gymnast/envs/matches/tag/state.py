"""All that is true of the matches now, as arrays whose first axis is the match: copied, cut and put
back row by row, and no more than this is needed to go on exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from gymnast.envs.matches.tag.layout import N_BOXES
from gymnast.errors import CheckpointError

Array = np.ndarray
NEVER = -1


@dataclass
class State:
    """Of N matches with B boxes and K agents, seekers first."""

    middle: Array
    """Of boxes, [N, B, 2]; `half` their widths."""
    half: Array
    position: Array
    """[N, K, 2], like velocity."""
    velocity: Array
    heading: Array
    """[N, K]: place among HEADINGS."""
    cooldown: Array
    """[N, K]: steps until the next dash."""
    in_play: Array
    """[N, K]"""
    tagged: Array
    """[N, K]: hiders caught in this match."""
    clock: Array
    """[N]: steps of the match so far."""
    pace: Array
    """[N, K]: the role's handicap when the match began, a factor of its speeds."""
    nearest: Array
    """[N, K]: how far the nearest opponent in play is."""
    seen_who: Array
    """[N, K]: the opponent seen last, `seen_at` which place [N, K, 2], `seen_when`, or NEVER."""
    seen_at: Array
    seen_when: Array
    seen_now: Array
    """[N, K]"""
    distance: Array
    """[N]: between the sides, summed over steps."""
    watched: Array
    """[N]: steps in which a seeker saw a hider."""

    def rows(self, matches: Array) -> State:
        return State(**{name: column[matches] for name, column in self.columns().items()})

    def put(self, matches: Array, rows: State) -> None:
        mine = self.columns()
        for name, column in rows.columns().items():
            mine[name][matches] = column

    def columns(self) -> dict[str, Array]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def load(self, arrays: Mapping[str, Array]) -> None:
        for name, column in self.columns().items():
            if name not in arrays or arrays[name].shape != column.shape:
                found = arrays[name].shape if name in arrays else "absent"
                what = (
                    f"the stored matches of tag do not fit: {name} is {found}, not {column.shape}"
                )
                raise CheckpointError(what, fix="keep the number of matches, seekers and hiders")
            column[...] = arrays[name]


def blank(n: int, agents: int) -> State:
    """Nobody in play."""

    def each(*shape: int, kind: type = float) -> Array:
        return np.zeros((n, *shape), kind)

    pair, whole = (agents, 2), {"kind": int}
    return State(
        middle=each(N_BOXES, 2),
        half=each(N_BOXES, 2),
        position=each(*pair),
        velocity=each(*pair),
        heading=each(agents, **whole),
        cooldown=each(agents, **whole),
        in_play=each(agents, kind=bool),
        tagged=each(agents, kind=bool),
        clock=each(**whole),
        pace=each(agents) + 1.0,
        nearest=each(agents),
        seen_who=each(agents, **whole),
        seen_at=each(*pair),
        seen_when=each(agents, **whole) + NEVER,
        seen_now=each(agents, kind=bool),
        distance=each(),
        watched=each(**whole),
    )
