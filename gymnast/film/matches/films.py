"""Stored matches as films in their run."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.film.make import FilmOptions, describe_film, write_film
from gymnast.film.matches.band import MatchBand
from gymnast.film.matches.choose import ChosenMatch
from gymnast.film.matches.replay import MatchFrame, MatchRenderer, match_frames
from gymnast.film.source import FilmSource


def film_match(
    renderer: MatchRenderer, chosen: ChosenMatch, options: FilmOptions
) -> dict[str, Any]:
    """Makes the film and returns its description."""
    writer, note = write_film(match_source(renderer, chosen), options)
    about = {
        "kind": chosen.kind,
        "version": chosen.version,
        "which": chosen.selection,
        "episode": chosen.index,
        **match_identity(chosen),
        "outcome": chosen.trace.outcome,
        "handicap": {renderer.slowed_role: renderer.handicap} if renderer.slowed_role else {},
    }
    return describe_film(options, about, writer, note)


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


def match_identity(chosen: ChosenMatch) -> dict[str, Any]:
    """Returns what identifies a match: seed, players, returns and length."""
    trace = chosen.trace
    returns = {role: float(np.mean(rewards.sum(0))) for role, rewards in trace.rewards.items()}
    return {"seed": trace.seed, "cast": trace.cast, "returns": returns, "length": len(trace)}
