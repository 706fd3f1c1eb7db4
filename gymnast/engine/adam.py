"""The state of AdamW (arXiv:1711.05101) between gradient steps. An engine computes the steps."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from gymnast.policy.parameters import aligned_zeros

BETA1, BETA2 = 0.9, 0.999  # native/learning.hpp has the same constants


class AdamState(TypedDict):
    """The state of Adam in a checkpoint."""

    first: np.ndarray
    second: np.ndarray
    steps: int


class Adam:
    """The moments, step count and hyperparameters of AdamW for one flat parameter vector."""

    def __init__(self, size: int, *, eps: float = 1e-8, weight_decay: float = 0.0) -> None:
        self.eps, self.weight_decay = eps, weight_decay
        """Hyperparameters, read at every step; an algorithm sets them at the start of each update."""
        self.first_moment, self.second_moment = aligned_zeros(size), aligned_zeros(size)
        """First and second moments, laid out like the flat parameter vector."""
        self.steps = 0
        """Number of steps taken, for the bias correction."""

    def reset(self) -> None:
        """Sets the moments and the step count to zero."""
        self.first_moment[:], self.second_moment[:], self.steps = 0.0, 0.0, 0

    def state(self) -> AdamState:
        """Returns copies of the moments and the step count, for a checkpoint or a snapshot."""
        return {
            "first": self.first_moment.copy(),
            "second": self.second_moment.copy(),
            "steps": self.steps,
        }

    def load(self, state: AdamState) -> None:
        """Restores what `state` returned, in place."""
        self.first_moment[:], self.second_moment[:] = state["first"], state["second"]
        self.steps = int(state["steps"])
