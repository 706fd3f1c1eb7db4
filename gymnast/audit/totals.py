"""What each reward term came to in matches, for an agent of each role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.selfplay.play import PlayedMatch

Array = np.ndarray

WHOLE = "reward"
"""Stands for the only term where an environment does not tell of several."""


@dataclass(frozen=True)
class TermTotal:
    """Of one term over matches; per match and agent."""

    term: str
    mean: float
    std: float
    share: float
    """Of all that is paid, gains and losses alike: mean size of this term over those of all."""
    won: float | None
    """Mean in matches that the role won; None where it won none."""
    lost: float | None
    """Mean in matches that another role won."""


def totals(played: Sequence[PlayedMatch], role: str) -> list[TermTotal]:
    paid = {term: undiscounted(matches) for term, matches in per_step(played, role).items()}
    size = {term: float(np.abs(x).mean()) for term, x in paid.items()}
    every = sum(size.values())
    won = np.array([match.end.winner == role for match in played])
    lost = np.array([match.end.winner not in (role, "", None) for match in played])
    return [
        TermTotal(
            term=term,
            mean=float(x.mean()),
            std=float(x.std()),
            share=size[term] / every if every else 0.0,
            won=_mean(x[won]),
            lost=_mean(x[lost]),
        )
        for term, x in paid.items()
    ]


def per_step(played: Sequence[PlayedMatch], role: str) -> Mapping[str, list[Array]]:
    """Term -> what each step of each match paid, the mean over the role's agents, [T] each."""
    if not all(role in match.paid for match in played):
        return {WHOLE: [match.trace.rewards[role].mean(1) for match in played]}
    return {
        term: [match.paid[role][term].mean(1) for match in played] for term in played[0].paid[role]
    }


def undiscounted(matches: Sequence[Array]) -> Array:
    return np.array([float(steps.sum()) for steps in matches])


def discounted(matches: Sequence[Array], discount: float) -> Array:
    """As whoever learns with this discount adds it up, from the beginning of a match."""
    return np.array([float(steps @ discount ** np.arange(len(steps))) for steps in matches])


def _mean(x: Array) -> float | None:
    return float(x.mean()) if len(x) else None
