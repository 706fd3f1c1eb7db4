"""Stored matches as films in their run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gymnast.film.make import FilmOptions, finish_film, write_film
from gymnast.film.matches.band import MatchBand
from gymnast.film.matches.choose import ChosenMatch
from gymnast.film.matches.replay import MatchFrame, MatchRenderer, match_frames
from gymnast.film.record import Film
from gymnast.film.source import FilmSource


def film_match(renderer: MatchRenderer, chosen: ChosenMatch, options: FilmOptions) -> Film:
    """Makes the film and returns its description."""
    writer, note = write_film(match_source(renderer, chosen), options)
    film = describe_match(chosen, options.out)
    if renderer.slowed_role and renderer.handicap is not None:
        film = replace(film, handicap={renderer.slowed_role: renderer.handicap})
    return finish_film(film, options, writer, note)


def describe_match(chosen: ChosenMatch, out: Path) -> Film:
    """Returns the description of the film `out` of a stored match, before it is made."""
    trace = chosen.trace
    return Film(
        path=str(out),
        kind=chosen.kind,
        version=chosen.version,
        which=chosen.selection,
        episode=chosen.index,
        seed=trace.seed,
        length=len(trace),
        cast=dict(trace.cast),
        returns={role: float(np.mean(got.sum(0))) for role, got in trace.rewards.items()},
        outcome=trace.outcome,
    )


def match_source(renderer: MatchRenderer, chosen: ChosenMatch) -> FilmSource[MatchFrame]:
    """Returns a stored match as a source of frames."""
    trace = chosen.trace
    renderer.find_handicap(trace)  # first: it may reopen the environment
    cast = {role: trace.cast[role] for role in renderer.matches.roles}
    if renderer.slowed_role:
        cast[renderer.slowed_role] += f", {renderer.handicap:.0%} speed"
    colors = getattr(renderer.matches, "colors", {})
    return FilmSource(
        fps=renderer.fps,
        length=len(trace),
        raw_frames=lambda strict: match_frames(renderer, trace, strict=strict),
        band=lambda width, note: MatchBand(width, trace, cast, colors, note),
    )
