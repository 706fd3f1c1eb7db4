"""Selects the trajectories that are shown: one by its number, or a few of each cast of players."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest

from gymnast.errors import UsageError
from gymnast.trajectories.trajectory import Trajectory


def numbered(trajectories: Sequence[Trajectory], number: int) -> Trajectory:
    """Returns the trajectory with this number; raises UsageError if there is none."""
    for one in trajectories:
        if one.number == number:
            return one
    known = sorted(one.number for one in trajectories)
    some = ", ".join(map(str, known[:10])) + (", ..." if len(known) > 10 else "")
    raise UsageError(f"there is no trajectory number {number} (expected one of {some})")


def first_of_each_cast(trajectories: Sequence[Trajectory], limit: int) -> list[Trajectory]:
    """Returns at most `limit` trajectories, equally many of each cast of players, in their order."""
    groups: dict[tuple[tuple[str, str], ...], list[Trajectory]] = defaultdict(list)
    for one in trajectories:
        groups[tuple(one.cast.items())].append(one)
    in_turns = chain.from_iterable(zip_longest(*groups.values()))
    chosen = [one for one in in_turns if one is not None][:limit]
    return [one for one in trajectories if one in chosen]


def one_of_each_result(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Returns the first match of each cast and outcome or, of a single agent, the episode with the highest
    return."""
    if not trajectories[0].is_match:
        return [max(trajectories, key=lambda one: sum(one.agents[0].reward))]
    first: dict[tuple[object, ...], Trajectory] = {}
    for one in trajectories:
        first.setdefault((*one.cast.items(), one.outcome), one)
    return list(first.values())
