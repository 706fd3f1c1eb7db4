"""Makes films of stored matches."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.film.make import Order, describe_film, film
from gymnast.film.matches.band import MatchBand
from gymnast.film.matches.choose import ChosenMatch
from gymnast.film.matches.frames import MatchShot, MatchStage, match_shots
from gymnast.film.scene import Scene


def film_match(stage: MatchStage, chosen: ChosenMatch, order: Order) -> dict[str, Any]:
    """Makes the film and returns its description."""
    writer, note = film(match_scene(stage, chosen), order)
    about = {
        "kind": chosen.kind,
        "version": chosen.version,
        "which": chosen.which,
        "episode": chosen.index,
        **identity(chosen),
        "outcome": chosen.trace.outcome,
        "handicap": {stage.slowed: stage.handicap} if stage.slowed else {},
    }
    return describe_film(order, about, writer, note)


def match_scene(stage: MatchStage, chosen: ChosenMatch) -> Scene[MatchShot]:
    """Returns the match as a scene, after finding the handicap it was played with."""
    trace = chosen.trace
    stage.settle(trace)
    cast = {role: trace.cast[role] for role in stage.matches.roles}
    if stage.slowed:
        cast[stage.slowed] += f", {stage.handicap:.0%} speed"
    colors = getattr(stage.matches, "colours", {})
    return Scene(
        fps=stage.fps,
        length=len(trace),
        shots=lambda strict: match_shots(stage, trace, strict=strict),
        band=lambda width, note: MatchBand(width, trace, cast, colors, note),
    )


def identity(chosen: ChosenMatch) -> dict[str, Any]:
    """Returns what identifies a match: seed, cast, mean return per role and length."""
    trace = chosen.trace
    returns = {role: float(np.mean(rewards.sum(0))) for role, rewards in trace.rewards.items()}
    return {"seed": trace.seed, "cast": trace.cast, "returns": returns, "length": len(trace)}
