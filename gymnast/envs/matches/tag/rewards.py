"""What is paid, as named terms with a weight per role.

goal      1 for a hider that lasts, -1 for one that is tagged; for each seeker the opposite of the
          hiders' mean, as it happens
time      1 over a whole match, in equal parts: for a hider while it is in play, for a seeker times the
          share of hiders that still are
closing   a potential: minus the distance to the nearest opponent, as a share of the field's diagonal, 0
          after the end. Its discounted sum is the same whatever anybody does, so there is nothing to
          farm
seeing    1 in each step in which an opponent is seen
nearness  1 minus the share of the diagonal that the nearest opponent is away, in each step
moving    speed as a share of the top speed, in each step

With one seeker and one hider the default is a zero-sum game to the last bit; so are goal and time
between the means of any two sides. The last three are paid for a state instead of an event, which can
outweigh the goal: they weigh nothing unless they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.envs.matches.tag.rules import DIAGONAL, HIDER, ROLES, SEEKER
from gymnast.errors import ConfigError
from gymnast.text.closest import closest

Array = np.ndarray
Weights = Mapping[str, Mapping[str, float]]
"""Role -> term -> weight."""

GOAL = "goal"
"""The term that pays for winning."""
TERMS = (GOAL, "time", "closing", "seeing", "nearness", "moving")
WEIGHTS: Weights = {
    SEEKER: {GOAL: 1.0, "time": -0.2, "closing": 0.2},
    HIDER: {GOAL: 1.0, "time": 0.2, "closing": -0.2},
}
"""Where nothing else is said."""


@dataclass(frozen=True)
class StepEvents:
    """A step, as far as it is paid for. [N, K] unless said otherwise."""

    played: Array
    """Who was in play when it began."""
    ended: Array
    """Whose part ended with it."""
    tagged: Array
    """[N, H]: hiders tagged in it."""
    lasted: Array
    """[N, H]: hiders in play when time was up."""
    nearest_before: Array
    nearest: Array
    seeing: Array
    velocity: Array
    """[N, K, 2], in top speeds of the role."""


class Rewards:
    def __init__(
        self, seekers: int, hiders: int, time_limit: int, discount: float, weights: Weights
    ) -> None:
        self._seekers, self._hiders = seekers, hiders
        self._time_limit, self._discount = time_limit, discount
        self.weight = np.zeros((len(TERMS), len(ROLES)))
        """[terms, roles]"""
        for role, given in WEIGHTS.items():
            self.weigh(role, given)
        for role, given in weights.items():
            self.weigh(role, given)
        named = {term for given in (*WEIGHTS.values(), *weights.values()) for term in given}
        self.told = tuple(term for term in TERMS if term in named)
        """Terms that weigh something, or were named to weigh something later."""

    def weigh(self, role: str, weights: Mapping[str, float]) -> None:
        for term, weight in weights.items():
            place = _place(TERMS, term, "term"), _place(ROLES, role, "role")
            self.weight[place] = weight

    def terms(self, step: StepEvents) -> dict[str, Array]:
        """Each in its weight, [N, K]."""
        per_agent = np.repeat(self.weight, (self._seekers, self._hiders), axis=1)
        return {
            term: per_agent[TERMS.index(term)] * getattr(self, f"_{term}")(step)
            for term in self.told
        }

    def _goal(self, step: StepEvents) -> Array:
        lost = step.tagged * 1.0 - step.lasted
        return self._both(lost.mean(1), -lost)

    def _time(self, step: StepEvents) -> Array:
        playing = step.played[:, self._seekers :] * (1.0 / self._time_limit)
        return self._both(playing.mean(1), playing)

    def _closing(self, step: StepEvents) -> Array:
        after = np.where(step.ended, 0.0, step.nearest)
        return step.played * (step.nearest_before - self._discount * after) * (1.0 / DIAGONAL)

    def _seeing(self, step: StepEvents) -> Array:
        return step.played & step.seeing

    def _nearness(self, step: StepEvents) -> Array:
        return step.played * (1.0 - step.nearest * (1.0 / DIAGONAL))

    def _moving(self, step: StepEvents) -> Array:
        x, y = step.velocity[..., 0], step.velocity[..., 1]
        return step.played * np.sqrt(x**2 + y**2)

    def _both(self, seekers: Array, hiders: Array) -> Array:
        """[N] for all seekers alike, and [N, H]."""
        alike = np.broadcast_to(seekers[:, None], (len(seekers), self._seekers))
        return np.concatenate([alike, hiders], axis=1)


def _place(known: tuple[str, ...], name: str, what: str) -> int:
    if name not in known:
        raise ConfigError(
            f"tag has no {what} {name!r}{closest(name, known)}", fix=f"one of {', '.join(known)}"
        )
    return known.index(name)
