"""Helpers that play matches of tag with scripted players."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gymnast.envs.matches.matches import MatchStep, ScriptedPolicy
from gymnast.envs.matches.tag import TagMatches

Array = np.ndarray


def start_matches(n: int, first_seed: int = 0, **settings: Any) -> TagMatches:
    matches = TagMatches(n, **settings)
    matches.reset(range(n), range(first_seed, first_seed + n))
    return matches


def scripted_actions(
    matches: TagMatches, players: dict[str, ScriptedPolicy], rng: np.random.Generator
) -> dict[str, Array]:
    """Returns the actions of each role's player for the current observations."""
    actions = {}
    for role, seats in matches.roles.items():
        obs = matches.obs[role]
        rows = obs.reshape(-1, obs.shape[-1])
        chosen = players[role](rows, rng.random(len(rows)))
        actions[role] = chosen.reshape(matches.n_matches, seats.seats, -1)
    return actions


def scripted_players(seeker: str = "random", hider: str = "random") -> dict[str, ScriptedPolicy]:
    scripted = TagMatches.scripted
    return {"seeker": scripted["seeker"][seeker], "hider": scripted["hider"][hider]}


def play_steps(
    matches: TagMatches, players: dict[str, ScriptedPolicy], seed: int = 0, steps: int | None = None
) -> Iterator[MatchStep]:
    """Yields every step until all matches are over, or `steps` steps."""
    rng, over = np.random.default_rng(seed), np.zeros(matches.n_matches, bool)
    for _ in range(matches.time_limit if steps is None else steps):
        step = matches.step(scripted_actions(matches, players, rng))
        over |= step.over
        yield step
        if steps is None and over.all():
            return
