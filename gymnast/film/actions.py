"""An action as labeled bars: probabilities of discrete actions, or values within a Box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.film.episode_frame import EpisodeFrame


@dataclass(frozen=True)
class Bar:
    label: str
    low: float
    high: float
    """The filled part of the bar is [low, high], within [0, 1]."""
    chosen: bool
    """Whether it is drawn as part of the chosen action."""


@dataclass(frozen=True)
class ActionLabels:
    """Names of an environment's actions, and how they are drawn as bars."""

    space: gym.Space[Any]
    labels: Sequence[str] = ()

    def action_text(self, action: Any) -> str:
        """Returns an action as text: the label of a discrete action, else the label of each dimension with
        its value. Without labels, indices from 0 take their place."""
        space = self.space
        if isinstance(space, gym.spaces.Discrete):
            return self._label(int(action) - int(space.start), int(space.n))
        flat = np.ravel(action)
        parts = (self._label(i, len(flat)) for i in range(len(flat)))
        return ", ".join(f"{part} {_value_text(x)}" for part, x in zip(parts, flat, strict=True))

    def bars(self, frame: EpisodeFrame) -> list[Bar]:
        """Returns a bar per discrete action or Box dimension, and for other spaces one empty bar
        labeled with the action; none at the end of an episode."""
        space = self.space
        if frame.action is None:
            return []
        if isinstance(space, gym.spaces.Discrete):
            n, chosen = int(space.n), int(frame.action) - int(space.start)
            # Without probabilities (random or human player), the chosen action is a full bar.
            action_probs = np.eye(n)[chosen] if frame.action_probs is None else frame.action_probs
            return [
                Bar(self._label(i, n), low=0.0, high=float(action_probs[i]), chosen=i == chosen)
                for i in range(n)
            ]
        if isinstance(space, gym.spaces.Box):
            return self._box_bars(np.ravel(frame.action), space)
        return [Bar(self.action_text(frame.action), low=0.0, high=0.0, chosen=True)]

    def _box_bars(self, action: np.ndarray, space: gym.spaces.Box) -> list[Bar]:
        """Returns a bar per dimension of a Box action [n], from the position of 0 to that of the
        value, labeled with its name and value."""
        bars: list[Bar] = []
        limits = zip(np.ravel(space.low), np.ravel(space.high), strict=True)
        for i, (value, (low, high)) in enumerate(zip(action, limits, strict=True)):
            bounded = math.isfinite(low) and math.isfinite(high) and high > low
            # An unbounded dimension has no scale: tanh maps it to (0, 1), with 0 in the middle.
            position = (value - low) / (high - low) if bounded else 0.5 + 0.5 * math.tanh(value)
            # The bar grows from the position of 0, so that -1 and +1 look like opposites.
            zero = min(max(-low / (high - low), 0.0), 1.0) if bounded else 0.5
            label = f"{self._label(i, len(action))} {_value_text(value)}"
            bars.append(
                Bar(label, float(min(zero, position)), float(max(zero, position)), chosen=True)
            )
        return bars

    def _label(self, i: int, n: int) -> str:
        return self.labels[i] if len(self.labels) == n else str(i)


def _value_text(number: Any) -> str:
    return f"{number:+.2f}" if isinstance(number, np.floating | float) else str(number)
