"""An action as labeled bars: probabilities of options, and values of continuous elements in their range."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gymnast.film.episode_frame import EpisodeFrame
from gymnast.spaces.action import NO_NAMES, Action, ActionNames, Element


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

    space: Action
    declared: ActionNames = NO_NAMES

    def action_text(self, action: object) -> str:
        """Returns an action as text: the label of a discrete action, else the label of each element with
        its value. Without labels, their places in the action are named instead."""
        return self.space.action_text(action, self.declared)

    def probability(self, frame: EpisodeFrame) -> float | None:
        """Returns the probability of all options of the frame's action together; None if it is unknown."""
        if frame.action_probs is None or frame.action is None:
            return None
        flat = self.space.flatten(self.space.pack(frame.action))
        return float(np.prod(frame.action_probs[self.space.chosen_options(flat)]))

    def bars(self, frame: EpisodeFrame) -> list[Bar]:
        """Returns a bar per action of a Discrete space, and per element of any other; none at the end of an
        episode."""
        space = self.space
        if frame.action is None:
            return []
        flat = space.flatten(space.pack(frame.action))
        if space.n_choices is not None:
            chosen, names = int(flat[0]), space.names(self.declared.actions)
            # Without probabilities (random or human player), the chosen action is a full bar.
            probs = np.eye(len(names))[chosen] if frame.action_probs is None else frame.action_probs
            return [
                Bar(name, low=0.0, high=float(probs[i]), chosen=i == chosen)
                for i, name in enumerate(names)
            ]
        bars, option = list[Bar](), 0
        labels = space.element_texts(flat, self.declared)
        for label, element, x in zip(labels, space.elements, flat.tolist(), strict=True):
            if element.n:
                # the probability of the chosen option; a full bar without probabilities
                probs, at = frame.action_probs, option + int(x)
                bars.append(Bar(label, 0.0, 1.0 if probs is None else float(probs[at]), True))
                option += element.n
            else:
                bars.append(_value_bar(label, x, element))
        return bars


def _value_bar(label: str, value: float, element: Element) -> Bar:
    """Returns the bar of a continuous element, from the position of 0 to that of the value."""
    low, high = element.low, element.high
    bounded = element.is_bounded and high > low
    # An unbounded element has no scale: tanh maps it to (0, 1), with 0 in the middle.
    position = (value - low) / (high - low) if bounded else 0.5 + 0.5 * math.tanh(value)
    # The bar grows from the position of 0, so that -1 and +1 look like opposites.
    zero = min(max(-low / (high - low), 0.0), 1.0) if bounded else 0.5
    return Bar(label, min(zero, position), max(zero, position), chosen=True)
