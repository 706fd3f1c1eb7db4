"""The mapping from keys to actions: `facts.keys`, or digits for discrete actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.facts import Facts
from gymnast.errors import UsageError
from gymnast.film.actions import ActionLabels
from gymnast.spaces.spaces import Action, convert_action_space


class KeyBindings:
    """The keys of an environment. `idle` is the action while no key is pressed; None waits for a key.

    The action of a key is a number, or a list of one number per element."""

    def __init__(self, space: gym.Space[Any], facts: Facts) -> None:
        """Takes the keys from `facts.keys`, or digits if it has none. Raises UsageError for a key
        whose action is not in the action space, and if digits do not suffice (see `_digits`)."""
        self.kind, self.idle = convert_action_space(space), facts.idle
        self.key_actions: Mapping[str, object] = dict(facts.keys) or _digits(self.kind, space)
        self.actions = ActionLabels(self.kind, facts.actions)
        invalid = [key for key in self.key_actions if not space.contains(self.action([key]))]
        if invalid:
            problem = f"facts.keys: {', '.join(invalid)} do not map to an action of {space}"
            raise UsageError(problem, fix="map each key to an action of the action space")

    def action(self, pressed: Sequence[str]) -> object:
        """Returns the action of the keys in `pressed`, those without an action ignored: the sum of their
        continuous numbers, and the options of the last key. Without such a key, returns `idle`, or None if
        there is no idle action: the caller then waits for a key."""
        given = [self.key_actions[key] for key in pressed if key in self.key_actions]
        if not given:
            given = [] if self.idle is None else [self.idle]
        if not given:
            return None
        kind, elements = self.kind, self.kind.elements
        flat = [
            np.reshape(np.asarray(x), len(elements)) - [e.first for e in elements] for x in given
        ]
        # Two keys at once, e.g. gas and left, act together, but within the bounds of the space.
        low, high = [e.low for e in elements], [e.high for e in elements]
        total = np.clip(np.sum(flat, axis=0), low, high)
        return kind.unpack(kind.unflatten(np.where(kind.is_continuous, total, flat[-1])))

    def legend(self) -> str:
        """Returns e.g. `left: push left, right: push right`, to be shown before the first episode."""
        names = {key: self.actions.action_text(self.action([key])) for key in self.key_actions}
        return ", ".join(f"{key}: {name}" if key != name else key for key, name in names.items())


def _digits(kind: Action, space: gym.Space[Any]) -> Mapping[str, int]:
    """Returns the keys 0 to 9 for up to ten discrete actions; raises UsageError for other spaces."""
    if kind.n_choices is not None and kind.n_choices <= 10:
        return {str(i): i + kind.elements[0].first for i in range(kind.n_choices)}
    fix = "define them in your own preset (facts.keys: {left: [-1.0], ...})"
    raise UsageError(f"no keys are defined for {space}", fix=fix)
