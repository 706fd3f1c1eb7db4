"""One frame of an episode, and the numbers that are shown with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class EpisodeFrame:
    picture: Array
    """Rendered frame, [H, W, 3] uint8."""
    step: int
    """Number of steps taken so far."""
    total: float
    """Raw return so far."""
    reward: float | None = None
    """Reward of the last step; None at the start."""
    action: Any = None
    """The next action, as passed to the environment; None at the end of the episode."""
    value: float | None = None
    """The critic's estimate, in the units of the learner (scaled rewards)."""
    action_probs: Array | None = None
    """Probability of each option, in the order of an action mask; None if unknown."""
    ending: str = ""
    """How the episode ended; set on its last frame only."""


def ending_text(terminated: bool, truncated: bool) -> str:
    """Returns `terminated`, `truncated` or an empty string; termination has priority."""
    return "terminated" if terminated else "truncated" if truncated else ""
