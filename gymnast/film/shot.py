"""One moment of an episode: its picture and what there is to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Shot:
    picture: Array
    """[H, W, 3] uint8."""
    step: int
    """Steps taken so far."""
    total: float
    """Raw return so far."""
    reward: float | None = None
    """Of the step that led here; None at the start."""
    action: Any = None
    """What is done next, as the environment takes it; None where the episode is over."""
    value: float | None = None
    """What the critic expects from here on, in the learner's units."""
    chances: Array | None = None
    """Probability of each discrete action."""
    ending: str = ""
    """How the episode ended, on its last picture."""


def ending_of(terminated: bool, truncated: bool) -> str:
    """A true end wins over a time limit."""
    return "terminated" if terminated else "truncated" if truncated else ""
