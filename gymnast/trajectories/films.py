"""Films of trajectories: in the environment of their run, else drawn from their positions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np

from gymnast.config.config import Config
from gymnast.film.choose import ChosenEpisode
from gymnast.film.encode import FilmWriter
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.make import FilmOptions, episode_source, finish_film, write_film
from gymnast.film.matches.band import MatchBand
from gymnast.film.matches.choose import ChosenMatch
from gymnast.film.matches.films import match_source
from gymnast.film.matches.replay import MatchFrame, MatchRenderer
from gymnast.film.record import Film
from gymnast.film.renderer import DEFAULT_FPS, EnvRenderer
from gymnast.film.source import FilmSource
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.trace import Trace
from gymnast.spaces.action import Action
from gymnast.trajectories.colors import role_colors
from gymnast.trajectories.drawing import drawn_frames
from gymnast.trajectories.paths import no_positions
from gymnast.trajectories.trajectory import AGENT, Trajectory

Array = np.ndarray


def film_trajectory(one: Trajectory, cfg: Config | None, options: FilmOptions) -> Film:
    """Makes the film of a trajectory and returns its description. `cfg`: the config with which its
    environment is opened and its actions are replayed; None draws the positions instead. Raises GymnastError
    if that is not possible either."""
    writer, note = _write(one, cfg, options)
    return finish_film(describe(one, str(options.out)), options, writer, note)


def describe(one: Trajectory, out: str) -> Film:
    """Returns the description of the film `out` of a trajectory, before it is made."""
    returns = {role: float(np.mean(one.rewards(role).sum(0))) for role in one.roles}
    film = Film(
        path=out,
        kind=one.kind,
        version=one.version,
        which=str(one.number),
        episode=one.number,
        seed=one.seed,
        length=one.length,
        outcome=one.outcome or "",
    )
    if one.is_match:
        return replace(film, cast=dict(one.cast), returns=returns)
    return replace(film, episode_return=returns[AGENT])


def _write(one: Trajectory, cfg: Config | None, options: FilmOptions) -> tuple[FilmWriter, str]:
    """Writes the film; returns its writer and a note, which is empty unless a replay differs."""
    if cfg is None or one.seed is None:
        if not one.has_positions:
            raise no_positions(one)
        return write_film(_drawn_source(one), options)
    if one.is_match:
        with closing(MatchRenderer(cfg, training=one.kind == "train")) as renderer:
            spaces = {role: renderer.matches.roles[role].action for role in one.roles}
            match = _match_trace(one, spaces)
            chosen = ChosenMatch(_kind(one), one.version, "", one.number, match)
            return write_film(match_source(renderer, chosen), options)
    with closing(EnvRenderer(cfg, render=False)) as opened:
        space = opened.action_space
    episode = ChosenEpisode(_kind(one), one.version, "", one.number, _trace(one, space))
    with episode_source(cfg, episode) as source:
        without_value = replace(source, raw_frames=lambda strict: _without_value(source, strict))
        return write_film(without_value, options)


def _without_value(source: FilmSource[EpisodeFrame], strict: bool) -> Iterator[EpisodeFrame]:
    """Yields the frames without the critic's estimate, which a trajectory does not have."""
    for frame in source.raw_frames(strict):
        yield replace(frame, value=None)


def _drawn_source(one: Trajectory) -> FilmSource[MatchFrame]:
    match, colors = _match_trace(one, {}), role_colors(one.roles)
    return FilmSource(
        fps=DEFAULT_FPS,
        length=one.length,
        raw_frames=lambda strict: drawn_frames(one),  # noqa: ARG005 - nothing is replayed
        band=lambda width, note: MatchBand(width, match, one.cast, colors, note),
    )


def _match_trace(one: Trajectory, spaces: dict[str, Action]) -> MatchTrace:
    """Returns the match as it is stored in runs. `spaces`: role -> action space, for the form of actions."""
    actions = {role: one.actions(role) for role in one.roles}
    return MatchTrace(
        seed=one.seed or 0,
        actions={r: _rows(a, spaces[r], 2) if r in spaces else a for r, a in actions.items()},
        rewards={role: one.rewards(role) for role in one.roles},
        cast=dict(one.cast),
        outcome=one.outcome or "",
        version=one.version,
        numbers=dict(one.numbers),
        ended=one.outcome is not None,
    )


def _trace(one: Trajectory, space: Action) -> Trace:
    """Returns the episode as it is stored in runs, without what the policy computed."""
    reward = np.array(one.agents[0].reward)
    return Trace(
        seed=one.seed or 0,
        action=_rows(one.actions(AGENT)[:, 0], space, 1),
        reward=reward,
        value=np.zeros(one.length, np.float32),
        dist=np.zeros((one.length, 0), np.float32),
        obs=None,
        terminated=one.outcome == "terminated",
        truncated=one.outcome == "truncated",
        raw_return=float(reward.sum()),
        env=0,
        version=one.version,
    )


def _rows(actions: Array, space: Action, leading: int) -> Array:
    """Returns actions [T, ..., elements] as rows of the action space; `leading`: number of axes before."""
    spec = space.row_spec
    return actions.reshape(*actions.shape[:leading], *spec.shape).astype(spec.dtype)


def _kind(one: Trajectory) -> Kind:
    return one.kind  # pyright: ignore[reportReturnType] - validated when it was read
