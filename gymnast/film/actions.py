"""An action as a row of labelled bars: chances of a choice, or amounts within their range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.film.shot import Shot


@dataclass(frozen=True)
class Bar:
    label: str
    low: float
    high: float
    """The filled part, between 0 and 1."""
    chosen: bool


@dataclass(frozen=True)
class Actions:
    """How an environment's actions are called and drawn."""

    space: gym.Space[Any]
    labels: Sequence[str] = ()

    def name(self, action: Any) -> str:
        """One action in words."""
        space = self.space
        if isinstance(space, gym.spaces.Discrete):
            return self._label(int(action) - int(space.start), int(space.n))
        flat = np.ravel(action)
        parts = (self._label(i, len(flat)) for i in range(len(flat)))
        return ", ".join(f"{part} {_amount(x)}" for part, x in zip(parts, flat, strict=True))

    def bars(self, shot: Shot) -> list[Bar]:
        """One per choice or amount; none where the episode is over."""
        space = self.space
        if shot.action is None:
            return []
        if isinstance(space, gym.spaces.Discrete):
            n, chosen = int(space.n), int(shot.action) - int(space.start)
            chances = np.eye(n)[chosen] if shot.chances is None else shot.chances
            return [Bar(self._label(i, n), 0.0, float(chances[i]), i == chosen) for i in range(n)]
        if isinstance(space, gym.spaces.Box):
            return self._amounts(np.ravel(shot.action), space)
        return [Bar(self.name(shot.action), 0.0, 0.0, True)]

    def _amounts(self, action: np.ndarray, space: gym.spaces.Box) -> list[Bar]:
        bars: list[Bar] = []
        limits = zip(np.ravel(space.low), np.ravel(space.high), strict=True)
        for i, (amount, (low, high)) in enumerate(zip(action, limits, strict=True)):
            bounded = math.isfinite(low) and math.isfinite(high) and high > low
            place = (amount - low) / (high - low) if bounded else 0.5 + 0.5 * math.tanh(amount)
            zero = min(max(-low / (high - low), 0.0), 1.0) if bounded else 0.5
            label = f"{self._label(i, len(action))} {_amount(amount)}"
            bars.append(Bar(label, float(min(zero, place)), float(max(zero, place)), chosen=True))
        return bars

    def _label(self, i: int, n: int) -> str:
        return self.labels[i] if len(self.labels) == n else str(i)


def _amount(number: Any) -> str:
    return f"{number:+.2f}" if isinstance(number, np.floating | float) else str(number)
