"""Scripted opponents: rules that see an agent's observation and one uniform random number per step.

- random: uniformly random actions.
- weak: reacts to what it sees, soon forgets it, and often acts at random.
- medium: remembers for a while where it saw an opponent, searches for one it lost, and plans its escape.
- strong: makes no mistakes, aims at where the opponent will be, and dashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.envs.matches.matches import ScriptedPolicy
from gymnast.envs.matches.tag.rules import COAST, DASHES, HIDER, LEFT, SEEKER, THRUSTS, TURNS
from gymnast.envs.matches.tag.steering import (
    LastSighting,
    SeenOpponent,
    avoid_walls,
    escape_direction,
    patrol_direction,
    steer_toward,
)

Array = np.ndarray


def random_seeker_or_hider(_obs: Array, noise: Array) -> Array:
    """Returns uniformly random actions."""
    # One uniform number selects one of all combinations of turn, thrust and dash.
    n = TURNS * THRUSTS * DASHES
    number = np.minimum((noise * n).astype(int), n - 1)
    return np.stack(np.unravel_index(number, (TURNS, THRUSTS, DASHES)), -1)


@dataclass(frozen=True)
class Seeker:
    """A seeker that goes for the hider it sees, else to where it last saw one, else searches."""

    mistakes: float
    """Fraction of steps with a random action."""
    memory: int
    """Number of steps for which it goes to where it last saw a hider."""
    lead: float
    """How many steps ahead of a visible hider it aims, per unit of distance."""
    dash_distance: float
    """It dashes at a visible hider within this distance; 0 for never."""
    patrols: bool
    """Whether it patrols the field while it knows of no hider, instead of moving straight ahead."""

    def __call__(self, obs: Array, noise: Array) -> Array:
        """Returns an action [k, 3] for each observation [k, ...]. `noise`: uniform random numbers [k], which
        decide the mistakes."""
        seen, last = SeenOpponent(obs), LastSighting(obs)
        # Aim at where the hider will be: the further away it is, the more steps ahead.
        lead = self.lead * seen.distance
        aim = np.arctan2(seen.aside + lead * seen.speed_aside, seen.ahead + lead * seen.speed_ahead)
        follow = last.known & (last.age <= self.memory) & (last.distance > 1.0)
        patrol = patrol_direction(obs) if self.patrols else np.zeros(len(obs))
        angle = np.where(seen.is_visible, aim, np.where(follow, last.angle, patrol))
        within = np.where(seen.is_visible, seen.distance, np.inf)
        action = steer_toward(avoid_walls(obs, angle, within))
        action[:, 2] = seen.is_visible & (seen.distance < self.dash_distance) & (np.abs(aim) < 0.3)
        return _with_mistakes(action, noise, self.mistakes)


@dataclass(frozen=True)
class Hider:
    """A hider that flees from where it last saw a seeker, and looks around while it knows of none."""

    mistakes: float
    """Fraction of steps with a random action."""
    memory: int
    """Number of steps for which it flees from where it last saw a seeker."""
    plans: bool
    """Whether it looks for the best escape (`escape_direction`), instead of fleeing straight away."""
    dash_distance: float
    """It dashes away from a seeker last seen within this distance; 0 for never."""

    def __call__(self, obs: Array, noise: Array) -> Array:
        """Returns an action [k, 3] for each observation [k, ...]. `noise`: uniform random numbers [k], which
        decide the mistakes."""
        last = LastSighting(obs)
        away = np.arctan2(-last.aside, -last.ahead)
        angle = escape_direction(obs, last) if self.plans else avoid_walls(obs, away)
        action = steer_toward(angle)
        action[:, 2] = (last.distance < self.dash_distance) & (np.abs(angle) < 0.2)
        unaware = ~last.known | (last.age > self.memory)
        action[unaware] = (LEFT, COAST, 0)  # turn on the spot to look around
        return _with_mistakes(action, noise, self.mistakes)


SCRIPTED: Mapping[str, Mapping[str, ScriptedPolicy]] = {
    SEEKER: {
        "random": random_seeker_or_hider,
        "weak": Seeker(mistakes=0.4, memory=0, lead=0.0, dash_distance=0.0, patrols=False),
        "medium": Seeker(mistakes=0.15, memory=30, lead=0.0, dash_distance=0.0, patrols=True),
        "strong": Seeker(mistakes=0.0, memory=60, lead=1.0, dash_distance=3.0, patrols=True),
    },
    HIDER: {
        "random": random_seeker_or_hider,
        "weak": Hider(mistakes=0.4, memory=5, plans=False, dash_distance=0.0),
        "medium": Hider(mistakes=0.05, memory=80, plans=True, dash_distance=0.0),
        "strong": Hider(mistakes=0.0, memory=200, plans=True, dash_distance=8.0),
    },
}


def _with_mistakes(action: Array, noise: Array, share: float) -> Array:
    """Returns the actions [k, 3] with this share of them replaced by random ones. `noise`: uniform random
    numbers [k]."""
    if not share:
        return action
    # Given noise < share, noise / share is uniform again: one random number decides both.
    return np.where((noise < share)[:, None], random_seeker_or_hider(action, noise / share), action)
