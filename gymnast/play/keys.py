"""The mapping from keys to actions: `facts.keys`, or digits for discrete actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.facts import Facts
from gymnast.errors import UsageError
from gymnast.film.actions import ActionLabels


class KeyBindings:
    """The keys of an environment. `idle` is the action while no key is pressed; None waits for a key."""

    def __init__(self, space: gym.Space[Any], facts: Facts) -> None:
        """Takes the keys from `facts.keys`, or digits if it has none. Raises UsageError for a key
        whose action is not in the action space, and if digits do not suffice (see `_digits`)."""
        self.space, self.idle = space, facts.idle
        self.key_actions: Mapping[str, object] = dict(facts.keys) or _digits(space)
        self.actions = ActionLabels(space, facts.actions)
        invalid = [key for key in self.key_actions if not space.contains(self.action([key]))]
        if invalid:
            problem = f"facts.keys: {', '.join(invalid)} do not map to an action of {space}"
            raise UsageError(problem, fix="map each key to an action of the action space")

    def action(self, pressed: Sequence[str]) -> object:
        """Returns the action of the keys in `pressed`, those without an action ignored: for a Box the sum of
        their actions, else the action of the last key. Without such a key, returns `idle`, or None if there
        is no idle action: the caller then waits for a key."""
        actions = [self.key_actions[key] for key in pressed if key in self.key_actions]
        if not actions:
            actions = [] if self.idle is None else [self.idle]
        if not actions:
            return None
        if not isinstance(self.space, gym.spaces.Box):
            return actions[-1]
        # Two keys at once, e.g. gas and left, act together, but within the bounds of the space.
        total = np.sum(
            [np.reshape(np.asarray(action), self.space.shape) for action in actions], axis=0
        )
        return np.clip(total, self.space.low, self.space.high).astype(self.space.dtype)

    def legend(self) -> str:
        """Returns e.g. `left: push left, right: push right`, to be shown before the first episode."""
        names = {key: self.actions.action_text(self.action([key])) for key in self.key_actions}
        return ", ".join(f"{key}: {name}" if key != name else key for key, name in names.items())


def _digits(space: gym.Space[Any]) -> Mapping[str, int]:
    """Returns the keys 0 to 9 for up to ten discrete actions; raises UsageError for other spaces."""
    if isinstance(space, gym.spaces.Discrete) and space.n <= 10:
        return {str(i): i + int(space.start) for i in range(int(space.n))}
    fix = "define them in your own preset (facts.keys: {left: [-1.0], ...})"
    raise UsageError(f"no keys are defined for {space}", fix=fix)
