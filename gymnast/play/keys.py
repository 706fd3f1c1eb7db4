"""Which key means which action, from an environment's facts or by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.facts import Facts
from gymnast.errors import UsageError
from gymnast.film.actions import Actions


class Keys:
    """Keys of one environment. `idle` is what is done while none is held; None: wait for one."""

    def __init__(self, space: gym.Space[Any], facts: Facts) -> None:
        self.space, self.idle = space, facts.idle
        self.meaning: dict[str, Any] = dict(facts.keys) or _digits(space)
        self.actions = Actions(space, facts.actions)
        refused = [key for key in self.meaning if not space.contains(self.action([key]))]
        if refused:
            what = f"facts.keys: {', '.join(refused)} stand for no action of {space}"
            raise UsageError(what, fix="give each key an action that the environment takes")

    def action(self, held: Sequence[str]) -> Any:
        """The action of the keys held, the latest last; None for nothing to do yet."""
        meant = [self.meaning[key] for key in held if key in self.meaning]
        if not meant:
            meant = [] if self.idle is None else [self.idle]
        if not meant:
            return None
        if not isinstance(self.space, gym.spaces.Box):
            return meant[-1]
        amounts = np.sum([np.reshape(m, self.space.shape) for m in meant], axis=0)
        return np.clip(amounts, self.space.low, self.space.high).astype(self.space.dtype)

    def legend(self) -> str:
        """`left: push left, right: push right`, to be shown before it begins."""
        named = {key: self.actions.name(self.action([key])) for key in self.meaning}
        return ", ".join(f"{key}: {name}" if key != name else key for key, name in named.items())


def _digits(space: gym.Space[Any]) -> dict[str, Any]:
    if isinstance(space, gym.spaces.Discrete) and space.n <= 10:
        return {str(i): i + int(space.start) for i in range(int(space.n))}
    what = f"no keys are known for {space}"
    fix = "name them in a preset of your own (facts.keys: {left: [-1.0], ...})"
    raise UsageError(what, fix=fix)
