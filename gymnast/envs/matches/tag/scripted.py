"""Opponents that play by rules, from what they see and one number of chance in each step.

Random ones draw any action. Weak ones go by what they see, soon forget it, and often do anything.
Medium ones know for a while where they saw somebody, look for whom they lost, and flee with a plan.
Strong ones make no mistakes, aim where the other will be, and dash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.envs.matches.matches import Scripted
from gymnast.envs.matches.tag.rules import COAST, DASHES, HIDER, LEFT, SEEKER, THRUSTS, TURNS
from gymnast.envs.matches.tag.steering import (
    Last,
    Seen,
    around_the_middle,
    past_walls,
    toward,
    way_out,
)

Array = np.ndarray


def random_seeker_or_hider(_obs: Array, noise: Array) -> Array:
    """Any action, each as likely."""
    n = TURNS * THRUSTS * DASHES
    number = np.minimum((noise * n).astype(int), n - 1)
    return np.stack(np.unravel_index(number, (TURNS, THRUSTS, DASHES)), -1)


@dataclass(frozen=True)
class Seeker:
    mistakes: float
    """Share of steps in which it does anything."""
    memory: int
    """Steps for which it goes where it saw somebody last."""
    lead: float
    """Steps ahead of whom it sees that it aims, per length of distance."""
    dash: float
    """It dashes at whom it sees within this distance; 0 for never."""
    rounds: bool
    """Walks around the field while it knows nothing, instead of straight on."""

    def __call__(self, obs: Array, noise: Array) -> Array:
        seen, last = Seen(obs), Last(obs)
        lead = self.lead * seen.distance
        aim = np.arctan2(seen.aside + lead * seen.speed_aside, seen.ahead + lead * seen.speed_ahead)
        follow = last.known & (last.age <= self.memory) & (last.distance > 1.0)
        wander = around_the_middle(obs) if self.rounds else np.zeros(len(obs))
        angle = np.where(seen.now, aim, np.where(follow, last.angle, wander))
        within = np.where(seen.now, seen.distance, np.inf)
        action = toward(past_walls(obs, angle, within))
        action[:, 2] = seen.now & (seen.distance < self.dash) & (np.abs(aim) < 0.3)
        return _with_mistakes(action, noise, self.mistakes)


@dataclass(frozen=True)
class Hider:
    mistakes: float
    memory: int
    """Steps for which it flees from where it saw somebody last."""
    plans: bool
    """Flees where a way leads furthest, instead of straight away."""
    dash: float
    """It dashes where it saw somebody within this distance; 0 for never."""

    def __call__(self, obs: Array, noise: Array) -> Array:
        last = Last(obs)
        away = np.arctan2(-last.aside, -last.ahead)
        angle = way_out(obs, last) if self.plans else past_walls(obs, away)
        action = toward(angle)
        action[:, 2] = (last.distance < self.dash) & (np.abs(angle) < 0.2)
        unaware = ~last.known | (last.age > self.memory)
        action[unaware] = (LEFT, COAST, 0)  # stand and look around
        return _with_mistakes(action, noise, self.mistakes)


SCRIPTED: Mapping[str, Mapping[str, Scripted]] = {
    SEEKER: {
        "random": random_seeker_or_hider,
        "weak": Seeker(mistakes=0.4, memory=0, lead=0.0, dash=0.0, rounds=False),
        "medium": Seeker(mistakes=0.15, memory=30, lead=0.0, dash=0.0, rounds=True),
        "strong": Seeker(mistakes=0.0, memory=60, lead=1.0, dash=3.0, rounds=True),
    },
    HIDER: {
        "random": random_seeker_or_hider,
        "weak": Hider(mistakes=0.4, memory=5, plans=False, dash=0.0),
        "medium": Hider(mistakes=0.05, memory=80, plans=True, dash=0.0),
        "strong": Hider(mistakes=0.0, memory=200, plans=True, dash=8.0),
    },
}


def _with_mistakes(action: Array, noise: Array, share: float) -> Array:
    if not share:
        return action
    return np.where((noise < share)[:, None], random_seeker_or_hider(action, noise / share), action)
