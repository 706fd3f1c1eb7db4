"""Stored matches as films in their run, or as grids of pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gymnast.film.choose_matches import ChosenMatch
from gymnast.film.make import Order, film, told
from gymnast.film.match_band import MatchBand
from gymnast.film.match_frames import MatchShot, MatchStage, match_shots
from gymnast.film.scene import Scene
from gymnast.runs import films


def film_match(stage: MatchStage, chosen: ChosenMatch, order: Order) -> dict[str, Any]:
    """Make the film and its description; returns the latter."""
    writer, note = film(match_scene(stage, chosen), order)
    about = {
        "kind": chosen.kind,
        "version": chosen.version,
        "which": chosen.which,
        "episode": chosen.index,
        "outcome": chosen.trace.outcome,
        **identity(chosen),
    }
    return told(order, about, writer, note)


def match_scene(stage: MatchStage, chosen: ChosenMatch) -> Scene[MatchShot]:
    trace = chosen.trace
    colours = getattr(stage.matches, "colours", {})
    return Scene(
        fps=stage.fps,
        length=len(trace),
        shots=lambda strict: match_shots(stage, trace, strict=strict),
        band=lambda width, note: MatchBand(width, trace, colours=colours, note=note),
    )
