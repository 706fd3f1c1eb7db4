"""Puts together what is known about a stored episode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.film.episode_frame import ending_text
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.episode_rollout import obs_space_of
from gymnast.inspector.frames import missing_frames
from gymnast.inspector.moments import key_moments
from gymnast.inspector.obs_parts import image_part
from gymnast.inspector.record import (
    ActionLabel,
    EpisodeInspection,
    ObsComponent,
    ReplayInfo,
    SeatInfo,
)
from gymnast.inspector.seat import OpenSeat
from gymnast.inspector.table import as_lists, column_infos, table_note
from gymnast.runs.episodes import find_episode
from gymnast.spaces.observations import (
    BoxObs,
    DiscreteObs,
    MultiDiscreteObs,
    Observation,
    blank_obs,
    leaves_of,
)
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.step_table import obs_columns

Array = np.ndarray


def inspect(episode: OpenEpisode) -> EpisodeInspection:
    """Returns the record of an episode: its steps, and what a page needs to show them."""
    address, facts = episode.address, episode.config.facts
    table = episode.table
    seats = seat_infos(episode)
    replay, frames_note = episode.replay, missing_frames(episode)
    return EpisodeInspection(
        address=address,
        info=find_episode(episode.run, address.kind, address.version, address.number),
        env=episode.config.env.id,
        roles=list(dict.fromkeys(seat.role for seat in seats)),
        seats=seats,
        actions=action_labels(episode),
        observations=obs_components(episode, table),
        has_image=has_image(episode),
        columns=column_infos(episode),
        table=as_lists(table),
        table_note=table_note(episode),
        moments=key_moments(table),
        replay=ReplayInfo(replay.is_exact, replay.mismatch, replay.note),
        policy_note=episode.policy_note,
        has_frames=not frames_note,
        frames_note=frames_note,
        fps=episode.fps,
        keys={key: _key_action(action) for key, action in facts.keys.items()},
    )


def seat_infos(episode: OpenEpisode) -> list[SeatInfo]:
    """Returns the agents of the match that the episode is part of; none for an episode of a single agent."""
    if not isinstance(episode, OpenSeat):
        return []
    return [
        SeatInfo(
            role=seat.role,
            seat=seat.seat,
            player=seat.player.name,
            has_policy=seat.policy is not None,
            length=seat.end.steps,
            raw_return=seat.raw_return,
            outcome=ending_text(seat.end.terminated, seat.end.truncated),
        )
        for seat in episode.match.all_seats()
    ]


def action_labels(episode: OpenEpisode) -> list[ActionLabel]:
    """Returns the actions of the environment with their labels."""
    space, facts = episode.action_space, episode.config.facts
    names = facts.actions if space is None else space.names(facts.actions)
    has_options = space is None or space.n_choices is None
    return [
        ActionLabel(index, name, list(facts.options.get(name, ())) if has_options else [])
        for index, name in enumerate(names)
    ]


def obs_components(episode: OpenEpisode, table: dict[str, Array]) -> list[ObsComponent]:
    """Returns the components of the observation that have a column, with the ranges and units that the facts
    declare, or else the ranges of the observation space."""
    space, facts = obs_space_of(episode), episode.config.facts
    if space is not None:
        facts = facts_for_policy_obs(facts, episode.config.env, space)
    declared = {f"obs/{component.name}": component for component in facts.observations}
    ranges = {} if space is None else _ranges(space, [c.name for c in facts.observations])
    found: list[ObsComponent] = []
    for column in table:
        if column.partition("/")[0] != "obs":
            continue
        known = declared.get(column)
        if known is not None:
            low, high, unit = known.low, known.high, known.unit
            doc = "Its range is declared in the facts of the preset."
        else:
            low, high = ranges.get(column, (-np.inf, np.inf))
            unit, doc = "", "Its range is that of the observation space."
        name = column.removeprefix("obs/")
        found.append(ObsComponent(column, name, _bound(low), _bound(high), unit, doc))
    return found


def has_image(episode: OpenEpisode) -> bool:
    """Returns whether the observation of the policy has an image; False if nothing is known about it."""
    space = obs_space_of(episode)
    return space is not None and image_part(space) is not None


def _ranges(space: Observation, labels: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Returns column -> the smallest and the largest value, of the components of an observation space."""
    rows = blank_obs(space, 2)  # the smallest and the largest observation
    for name, leaf in leaves_of(space).items():
        part = rows[name] if name else rows
        if isinstance(leaf, BoxObs):
            part[0], part[1] = np.reshape(leaf.low, leaf.shape), np.reshape(leaf.high, leaf.shape)
        elif isinstance(leaf, DiscreteObs | MultiDiscreteObs):
            part[1] += np.reshape(np.asarray(leaf.n) - 1, leaf.shape)
    columns = obs_columns("obs", rows[:, None], labels)
    return {name: (float(low), float(high)) for name, (low, high) in columns.items()}


def _bound(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _key_action(action: int | tuple[float, ...]) -> int | list[float]:
    return action if isinstance(action, int) else list(action)
