"""The reward: a sum of named terms with a weight per role.

goal      +1 for a hider that survives until time is up, -1 for one that is tagged; each seeker gets the
          negative mean of what the hiders get in the same step
time      1 / time limit per step: for a hider while it is in play, for a seeker times the fraction of
          hiders that still are
closing   potential-based shaping (Ng et al., 1999): the potential is minus the distance to the nearest
          opponent, as a fraction of the field's diagonal, and 0 after the end. Its discounted sum does
          not depend on the actions, so it cannot be farmed
seeing    1 per step in which the agent sees an opponent
nearness  per step, 1 minus the distance to the nearest opponent as a fraction of the diagonal
moving    per step, speed as a fraction of the top speed

With one seeker and one hider, the default weights make the game exactly zero-sum, to the last bit. With
more agents, `goal` and `time` are zero-sum between the means of the two sides. The last three terms reward
a state instead of an event and can outweigh the goal, so their default weight is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.envs.matches.tag.rules import DIAGONAL, HIDER, ROLES, SEEKER
from gymnast.errors import ConfigError
from gymnast.text.suggestions import did_you_mean

Array = np.ndarray
Weights = Mapping[str, Mapping[str, float]]
"""Weights by role and term."""

GOAL = "goal"
"""The term that rewards winning."""
TERMS = (GOAL, "time", "closing", "seeing", "nearness", "moving")
WEIGHTS: Weights = {
    SEEKER: {GOAL: 1.0, "time": -0.2, "closing": 0.2},
    HIDER: {GOAL: 1.0, "time": 0.2, "closing": -0.2},
}
"""Default weights; terms that are not listed have weight 0."""


@dataclass(frozen=True)
class StepEvents:
    """Everything about a step that the reward depends on; [N, K] unless another shape is given."""

    played: Array
    """Whether the agent was in play before the step."""
    ended: Array
    """Whether the agent terminated with the step."""
    tagged: Array
    """[N, H]: hiders tagged in the step."""
    survived: Array
    """[N, H]: hiders still in play when time was up."""
    nearest_before: Array
    """Distance to the nearest opponent before the step."""
    nearest: Array
    """The same distance after the step."""
    seeing: Array
    """Whether the agent sees an opponent after the step."""
    velocity: Array
    """[N, K, 2], as a fraction of the role's top speed."""


class Rewards:
    """Computes the reward terms. The term NAME is the method `_NAME(step)`, which returns [N, K]."""

    def __init__(
        self, seekers: int, hiders: int, time_limit: int, discount: float, weights: Weights
    ) -> None:
        self._seekers, self._hiders = seekers, hiders
        self._time_limit, self._discount = time_limit, discount
        self.weight = np.zeros((len(TERMS), len(ROLES)))
        """Weights, [terms, roles]."""
        for role, role_weights in (*WEIGHTS.items(), *weights.items()):  # later ones win
            self.set_weights(role, role_weights)
        named = {term for terms in (*WEIGHTS.values(), *weights.values()) for term in terms}
        self.reported = tuple(term for term in TERMS if term in named)
        """Terms that are computed: those with a default weight, and those named in `weights`, even with
        weight 0, because their weight may change later."""

    def set_weights(self, role: str, weights: Mapping[str, float]) -> None:
        """Changes the weights of these terms for a role; other terms keep theirs."""
        for term, weight in weights.items():
            index = _index(TERMS, term, "term"), _index(ROLES, role, "role")
            self.weight[index] = weight

    def terms(self, step: StepEvents) -> dict[str, Array]:
        """Returns term -> reward of each agent, [N, K], for every reported term: its value times its
        weight."""
        per_agent = np.repeat(self.weight, (self._seekers, self._hiders), axis=1)
        return {
            term: per_agent[TERMS.index(term)] * getattr(self, f"_{term}")(step)
            for term in self.reported
        }

    def _goal(self, step: StepEvents) -> Array:
        lost = step.tagged * 1.0 - step.survived  # [N, H]: 1 tagged, -1 survived, 0 else
        return self._both(lost.mean(1), -lost)

    def _time(self, step: StepEvents) -> Array:
        playing = step.played[:, self._seekers :] * (1.0 / self._time_limit)
        return self._both(playing.mean(1), playing)

    def _closing(self, step: StepEvents) -> Array:
        # -gamma * d(s') + d(s) for the potential -d. The potential of a terminal state is 0: any other value
        # would reward where the episode ends (Ng et al. 1999).
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
        """Joins values of seekers [N], the same for each of them, and of hiders [N, H] to [N, K]."""
        each_seeker = np.broadcast_to(seekers[:, None], (len(seekers), self._seekers))
        return np.concatenate([each_seeker, hiders], axis=1)


def _index(known: tuple[str, ...], name: str, what: str) -> int:
    """Returns the position of a name among the known ones. Raises ConfigError for an unknown name. `what`:
    term or role, for the message."""
    if name not in known:
        raise ConfigError(
            f"tag has no {what} {name!r}{did_you_mean(name, known)}",
            fix=f"one of {', '.join(known)}",
        )
    return known.index(name)
