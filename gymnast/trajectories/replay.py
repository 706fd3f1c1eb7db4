"""Trajectories of stored matches and episodes: they are replayed to get what was not stored, the positions.

A replay that differs from what was stored raises ReplayMismatch; it never becomes a trajectory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.config.sections.league import LEARNER
from gymnast.envs.matches.placement import HasPlacement, Placement
from gymnast.film.matches.replay import MatchRenderer, ReplayedStep, replayed_steps
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import replayed_states
from gymnast.images import Images
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import PERSON
from gymnast.runs.trace import Trace
from gymnast.spaces import spaces
from gymnast.trajectories.positions import PositionReader
from gymnast.trajectories.trajectory import (
    AGENT,
    FORMAT,
    Action,
    AgentPath,
    Position,
    Tag,
    Trajectory,
)

Array = np.ndarray


@dataclass(frozen=True)
class Identity:
    """The names and numbers that identify a stored episode."""

    run: str
    env: str
    kind: str
    version: int
    number: int


def match_trajectory(renderer: MatchRenderer, trace: MatchTrace, about: Identity) -> Trajectory:
    """Replays a match and returns its trajectory. Raises ReplayMismatch or EnvError."""
    renderer.find_handicap(trace)
    matches = renderer.matches
    places = matches if isinstance(matches, HasPlacement) else None
    steps: list[ReplayedStep] = []
    placements: list[Placement] = []
    for step in replayed_steps(renderer, trace, strict=True):
        steps.append(step)
        if places is not None:
            placements.append(places.placement(0))
    agents = tuple(
        _agent(role, seat, trace, steps, placements)
        for role, kind in matches.roles.items()
        for seat in range(kind.seats)
    )
    outcome = trace.outcome if trace.ended else ""
    return Trajectory(
        format=FORMAT,
        run=about.run,
        env=about.env,
        kind=about.kind,
        version=about.version,
        number=about.number,
        seed=trace.seed,
        length=len(trace),
        outcome=outcome or None,
        winner=matches.outcomes.get(outcome),
        cast={role: trace.cast[role] for role in matches.roles},
        agents=agents,
        arena=places.arena(0) if places is not None else None,
        distance=closest_distances(agents),
        tags=_tags(agents, placements),
        numbers={name: x for name, x in trace.numbers.items() if math.isfinite(x)},
    )


def episode_trajectory(
    renderer: EnvRenderer, trace: Trace, reader: PositionReader | None, about: Identity
) -> Trajectory:
    """Returns the trajectory of a single agent's episode, which is replayed if its positions follow from
    observations that were not stored. Raises ReplayMismatch or EnvError."""
    position = None
    if reader is not None:
        obs = trace.obs
        if obs is None or isinstance(obs, Images):
            obs = spaces.as_rows(renderer.obs_space, list(replayed_states(renderer, trace)))
        position = reader.read(obs)
    player = PERSON if about.kind == "played" else LEARNER
    ending = "truncated" if trace.truncated else None
    path = AgentPath(
        role=AGENT,
        steps=len(trace),
        action=_plain_actions(trace.action),
        reward=tuple(trace.reward.tolist()),
        position=position,
    )
    return Trajectory(
        format=FORMAT,
        run=about.run,
        env=about.env,
        kind=about.kind,
        version=about.version,
        number=about.number,
        seed=trace.seed,
        length=len(trace),
        outcome="terminated" if trace.terminated else ending,
        winner=None,
        cast={AGENT: player},
        agents=(path,),
        arena=reader.arena if reader is not None else None,
        numbers={name: x for name, x in trace.numbers.items() if math.isfinite(x)},
    )


def closest_distances(agents: Sequence[AgentPath]) -> tuple[float, ...] | None:
    """Returns the distance between the closest agents of different roles that take part in each step, after
    the step, [T]; None if an agent has no positions or all have the same role."""
    positions = [np.array(agent.position) for agent in agents if agent.position]
    if len(positions) < len(agents) or len({agent.role for agent in agents}) < 2:
        return None
    closest = np.full(len(positions[0]) - 1, np.inf)
    for i, one in enumerate(agents):
        for k, other in enumerate(agents[:i]):
            if one.role != other.role:
                line = positions[i][1:] - positions[k][1:]
                distance = np.sqrt(line[:, 0] ** 2 + line[:, 1] ** 2)
                both_play = np.arange(len(distance)) < min(one.steps, other.steps)
                closest = np.minimum(closest, np.where(both_play, distance, np.inf))
    # Where no pair plays any more there is no distance; the match is over by then.
    return tuple(closest.tolist()) if np.isfinite(closest).all() else None


def _agent(
    role: str,
    seat: int,
    trace: MatchTrace,
    steps: Sequence[ReplayedStep],
    placements: Sequence[Placement],
) -> AgentPath:
    # in_play[t] is True if the agent takes part in step t; the last entry is after the match.
    in_play = [bool(step.in_play[role][seat]) for step in steps]
    position: tuple[Position, ...] = tuple(
        (float(p.position[role][seat, 0]), float(p.position[role][seat, 1])) for p in placements
    )
    heading = tuple(float(p.heading[role][seat]) for p in placements)
    return AgentPath(
        role=role,
        steps=sum(in_play[: len(trace)]),
        action=_plain_actions(trace.actions[role][:, seat]),
        reward=tuple(trace.rewards[role][:, seat].tolist()),
        position=position or None,
        heading=heading or None,
    )


def _tags(agents: Sequence[AgentPath], placements: Sequence[Placement]) -> tuple[Tag, ...]:
    """Returns the agents that were caught, in the order of the steps. `agents` are ordered by role and seat,
    as the arrays of the placements are."""
    found: list[Tag] = []
    for t in range(1, len(placements)):
        before, after = (np.concatenate(list(p.caught.values())) for p in placements[t - 1 : t + 1])
        for index in np.flatnonzero(after & ~before).tolist():
            position = agents[index].position
            assert position is not None
            found.append(Tag(step=t, agent=index, position=position[t]))
    return tuple(found)


def _plain_actions(actions: Array) -> tuple[Action, ...]:
    """Returns actions [T, ...] as numbers, or as flat lists of numbers if they have several elements."""
    if actions.dtype == bool:
        actions = actions.astype(np.int64)
    if actions.ndim == 1:
        return tuple(actions.tolist())
    return tuple(map(tuple, actions.reshape(len(actions), -1).tolist()))
