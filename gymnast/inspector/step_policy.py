"""The policy at one step of an episode, asked about other observations, and about another past."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gymnast.images import ObsArray
from gymnast.policy.policy import Policy

Array = np.ndarray
MAX_PAST = 32
"""Number of earlier steps whose observations are explained."""


@dataclass(frozen=True)
class StepPolicy:
    """The policy at one step of an episode: it is asked for other observations in the same situation."""

    policy: Policy
    mask: Array | None
    """The action mask of the step, [1, options]; None if there is none."""
    state: Array | None
    """The policy state before the step, [1, S], or one per asked observation; None without memory."""

    def dist(self, rows: Array) -> Array:
        """Returns the distribution parameters for observations [B, ...], [B, k]."""
        return self.policy.dist(rows, _repeated(self.mask, rows), _repeated(self.state, rows))

    def value(self, rows: Array) -> Array:
        """Returns the values of observations [B, ...], [B]."""
        return self.policy.value(rows, _repeated(self.state, rows))

    def outputs(self, rows: Array) -> Array:
        """Returns the outputs of the actor's last layer, [B, k]."""
        return self.policy.actor_output(self.policy.features(rows), _repeated(self.state, rows))


Explained = Callable[[StepPolicy, Array], Array]
"""A function of a policy and observations [B, ...] that returns the explained number of each, [B]."""


def past_contributions(
    explained: Explained, asked: StepPolicy, seen: ObsArray, states: Array, baseline: Array
) -> dict[str, float]:
    """Returns earlier step -> how much smaller the explained number would be if the observation of that step
    had been the baseline [1, ...], by occlusion. `seen`: the observations of the episode up to the explained
    step; `states`: the policy states before each of them, [t + 1, S]."""
    step = len(seen) - 1
    first = max(step - MAX_PAST, 0)
    if first == step:
        return {}
    policy, count = asked.policy, step - first
    # One row per occluded step; all of them see the same observations, except each its own.
    state = np.repeat(states[first : first + 1], count, axis=0)
    for t in range(first, step):
        rows = np.repeat(np.asarray(seen[t : t + 1]), count, axis=0)
        rows[t - first] = baseline[0]
        _, _, state = policy.step(rows, state)
    now = np.asarray(seen[step : step + 1])
    occluded = explained(replace(asked, state=state), np.repeat(now, count, axis=0))
    change = explained(asked, now)[0] - occluded
    return {str(first + k): float(x) for k, x in enumerate(change)}


def _repeated(row: Array | None, rows: Array) -> Array | None:
    if row is None or len(row) == len(rows):
        return row
    return np.repeat(row, len(rows), axis=0)
