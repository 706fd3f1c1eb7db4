"""Totals of each reward term over matches, per agent of a role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.audit.record import TermTotal
from gymnast.selfplay.play import PlayedMatch

Array = np.ndarray

REWARD_TERM = "reward"
"""Name of the only term if the environment does not report its reward terms."""


def term_totals(played: Sequence[PlayedMatch], role: str) -> list[TermTotal]:
    """Returns the statistics of each reward term of a role over these matches."""
    sums = {term: match_sums(matches) for term, matches in rewards_by_term(played, role).items()}
    magnitude = {term: float(np.abs(x).mean()) for term, x in sums.items()}
    total = sum(magnitude.values())
    won = np.array([match.end.winner == role for match in played])
    # A draw ("") and an unknown outcome (None) are neither won nor lost.
    lost = np.array([match.end.winner not in (role, "", None) for match in played])
    return [
        TermTotal(
            term=term,
            mean=float(x.mean()),
            std=float(x.std()),
            share=magnitude[term] / total if total else 0.0,
            won=_mean(x[won]),
            lost=_mean(x[lost]),
        )
        for term, x in sums.items()
    ]


def rewards_by_term(played: Sequence[PlayedMatch], role: str) -> Mapping[str, list[Array]]:
    """Returns for each term the rewards of each match, averaged over the role's agents, [T] each.
    If the environment does not report its terms, there is one, REWARD_TERM, with the whole
    reward."""
    if not all(role in match.term_rewards for match in played):
        return {REWARD_TERM: [match.trace.rewards[role].mean(1) for match in played]}
    return {
        term: [match.term_rewards[role][term].mean(1) for match in played]
        for term in played[0].term_rewards[role]
    }


def match_sums(matches: Sequence[Array]) -> Array:
    return np.array([float(steps.sum()) for steps in matches])


def discounted_sums(matches: Sequence[Array], discount: float) -> Array:
    """Returns the discounted sum of each match from its first step, [matches]."""
    return np.array([float(steps @ discount ** np.arange(len(steps))) for steps in matches])


def _mean(x: Array) -> float | None:
    return float(x.mean()) if len(x) else None
