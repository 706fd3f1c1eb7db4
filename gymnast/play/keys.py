"""The mapping from keys to actions: `facts.keys`, or keys that are generated for the action space."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.facts import Facts
from gymnast.errors import UsageError
from gymnast.film.actions import ActionLabels
from gymnast.spaces.action import Action, Element
from gymnast.spaces.spaces import convert_action_space

Array = np.ndarray
KeyAction = float | Sequence[float]
"""The action of a key: a number, or one number per element, with the environment's numbers of options."""
_OPTIONS = string.digits + string.ascii_lowercase.replace("q", "")
"""Generated keys for the actions of a Discrete space; q ends a game in a window."""
_PAIRS = (("left", "right"), ("down", "up"), ("a", "d"), ("s", "w"), ("j", "l"), ("k", "i"))
"""Generated keys for the elements of any other action: one decreases the element, the other increases it."""


class KeyBindings:
    """The keys of an environment. `idle` is the action while no key is pressed; None waits for a key."""

    def __init__(self, space: gym.Space[Any] | Action, facts: Facts) -> None:
        """Takes the keys from `facts.keys`, or generates them if it has none: see `_generated`. Raises
        UsageError for a key whose action is not in the action space, and if there are not enough keys."""
        self.kind = space if isinstance(space, Action) else convert_action_space(space)
        self.idle: KeyAction | None = facts.idle
        self.key_actions: Mapping[str, KeyAction] = dict(facts.keys)
        if not self.key_actions:
            self.key_actions, idle = _generated(self.kind)
            self.idle = idle if self.idle is None else self.idle
        self.actions = ActionLabels(self.kind, facts)
        invalid = [key for key, action in self.key_actions.items() if not self._is_action(action)]
        if invalid:
            problem = (
                f"facts.keys: {', '.join(invalid)} do not map to an action of {_text(self.kind)}"
            )
            raise UsageError(problem, fix="map each key to an action of the action space")

    def row(self, pressed: Sequence[str]) -> Array | None:
        """Returns the action of the keys in `pressed` as a row; keys without an action are ignored. Without
        such a key, returns the idle action, or None if there is none: the caller then waits for a key.

        Keys that are pressed together act together: continuous numbers are added, within the bounds of the
        space, and each discrete element has the option of the last key that changes it. Without an idle
        action, nobody knows what changes it, and the last key decides."""
        given = [self._flat(self.key_actions[key]) for key in pressed if key in self.key_actions]
        idle = None if self.idle is None else self._flat(self.idle)
        if not given:
            return None if idle is None else self.kind.unflatten(idle)
        options = given[-1]
        if idle is not None and len(self.kind.elements) > 1:
            options = idle.copy()
            for flat in given:
                options = np.where(flat == idle, options, flat)
        low, high = [e.low for e in self.kind.elements], [e.high for e in self.kind.elements]
        total = np.clip(np.sum(given, axis=0), low, high)
        return self.kind.unflatten(np.where(self.kind.is_continuous, total, options))

    def row_of(self, action: KeyAction) -> Array:
        """Returns an action, written as that of a key, as a row. Raises UsageError if it is not in the action
        space."""
        if not self._is_action(action):
            raise UsageError(f"{action} is not an action of {_text(self.kind)}")
        low, high = [e.low for e in self.kind.elements], [e.high for e in self.kind.elements]
        return self.kind.unflatten(np.clip(self._flat(action), low, high))

    def action(self, pressed: Sequence[str]) -> object:
        """Returns the action of `row` as `env.step` takes it."""
        row = self.row(pressed)
        return None if row is None else self.kind.unpack(row)

    def key_names(self) -> dict[str, str]:
        """Returns key -> what it does, with the labels of the facts: its action or, if an action has several
        elements, the ones it changes."""
        return {key: self._key_text(key) for key in self.key_actions}

    def legend(self) -> str:
        """Returns e.g. `left: push left, right: push right`, to be shown before the first episode."""
        names = self.key_names()
        return ", ".join(f"{key}: {name}" if key != name else key for key, name in names.items())

    def _key_text(self, key: str) -> str:
        elements = self.kind.elements
        if self.idle is None or len(elements) == 1:
            return self.actions.action_text(self.action([key])).strip()
        flat, idle = self._flat(self.key_actions[key]), self._flat(self.idle)
        texts = self.kind.element_texts(flat, self.actions.declared)
        changed = [text for text, x, rest in zip(texts, flat, idle, strict=True) if x != rest]
        return ", ".join(changed) or "nothing"

    def _flat(self, action: KeyAction) -> Array:
        """Returns the action of a key in the flat form."""
        elements = self.kind.elements
        return np.reshape(np.asarray(action), len(elements)) - [e.first for e in elements]

    def _is_action(self, action: KeyAction) -> bool:
        try:
            flat = self._flat(action)
        except ValueError:  # another number of elements
            return False
        return all(
            not e.n or (e.low <= x <= e.high and float(x).is_integer())
            for e, x in zip(self.kind.elements, flat, strict=True)
        )


def _generated(kind: Action) -> tuple[dict[str, KeyAction], KeyAction | None]:
    """Returns key -> action, and the idle action: digits and letters for a Discrete space, which has no idle
    action; for any other, two keys per element, for its bounds or its first and last option. Raises
    UsageError if there are not enough keys."""
    n, elements = kind.n_choices, kind.elements
    if n is not None and n <= len(_OPTIONS):
        return {key: i + elements[0].first for i, key in enumerate(_OPTIONS[:n])}, None
    if n is not None or len(elements) > len(_PAIRS):
        fix = "define them in your own preset (facts.keys: {left: [-1.0], ...})"
        raise UsageError(f"no keys are defined for {_text(kind)}, which needs too many", fix=fix)
    idle = [e.first + _middle(e) for e in elements]
    keys: dict[str, KeyAction] = {}
    for i, (element, pair) in enumerate(zip(elements, _PAIRS, strict=False)):
        for key, value in zip(pair, _ends(element), strict=True):
            if value == _middle(element):
                continue  # the key would change nothing
            # Continuous numbers of keys are added, so those of the other elements are 0.
            others = [0.0 if not e.n else x for e, x in zip(elements, idle, strict=True)]
            keys[key] = [element.first + value if j == i else x for j, x in enumerate(others)]
    return keys, idle


def _middle(element: Element) -> float:
    """Returns the number of an element, in the flat form, while no key changes it."""
    if element.n:
        return float((element.n - 1) // 2)
    return min(max(0.0, element.low), element.high)


def _ends(element: Element) -> tuple[float, float]:
    """Returns the numbers of an element, in the flat form, for its two keys."""
    if element.is_bounded:
        return element.low, element.high
    middle = _middle(element)
    return max(middle - 1.0, element.low), min(middle + 1.0, element.high)


def _text(kind: Action) -> str:
    return f"{kind.name}{kind.text if kind.text.startswith('(') else f' ({kind.text})'}"
