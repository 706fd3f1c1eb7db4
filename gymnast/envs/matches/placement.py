"""Positions of the agents of a match, which an environment may report in addition to `Matches`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gymnast.envs.matches.matches import ByRole


@dataclass(frozen=True)
class Arena:
    """The field that agents move on. The y axis points up."""

    __pydantic_config__ = {"extra": "forbid", "allow_inf_nan": False}  # where it is read from files

    x: tuple[float, float]
    """Left and right edge."""
    y: tuple[float, float]
    """Lower and upper edge."""
    walls: tuple[tuple[float, float, float, float], ...] = ()
    """Rectangles that agents cannot enter: left, bottom, right and top of each."""
    radius: float | None = None
    """Radius of an agent; None if agents are points."""


@dataclass(frozen=True, eq=False)
class Placement:
    """The positions of all agents of one match."""

    position: ByRole
    """x and y of each agent, [seats, 2]."""
    heading: ByRole
    """The direction that each agent faces, in radians counterclockwise from the x axis, [seats]."""
    caught: ByRole
    """Whether each agent has been caught, [seats]."""


@runtime_checkable
class HasPlacement(Protocol):
    """A multi-agent environment whose agents have positions. Trajectories are written with them."""

    def arena(self, match: int) -> Arena:
        """Returns the field and the walls of a match, which stay the same until its next reset."""
        ...

    def placement(self, match: int) -> Placement:
        """Returns the current positions and headings in a match, as arrays that later steps do not change."""
        ...
