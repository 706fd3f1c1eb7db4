"""Chooses the action head for a kind of action space.

`engine/torch/distributions.py` has the same mathematics for autograd; a test compares the two.
"""

from __future__ import annotations

from typing import Literal

from gymnast.errors import ConfigError
from gymnast.policy.composite import Composite
from gymnast.policy.continuous import Gaussian, SquashedGaussian
from gymnast.policy.discrete import (
    MASKED_LOGIT,
    Bernoulli,
    Categorical,
    EpsilonGreedy,
    MultiCategorical,
    log_softmax,
)
from gymnast.policy.head import Head
from gymnast.spaces.actions import (
    Action,
    BoxAction,
    DiscreteAction,
    MultiBinaryAction,
    MultiDiscreteAction,
)
from gymnast.spaces.composite_action import CompositeAction

__all__ = [
    "MASKED_LOGIT",
    "ActionSelection",
    "Bernoulli",
    "Categorical",
    "Composite",
    "EpsilonGreedy",
    "Gaussian",
    "Head",
    "MultiCategorical",
    "SquashedGaussian",
    "head_for",
    "log_softmax",
]

ActionSelection = Literal["sample", "epsilon_greedy"]
"""Meaning of the network's outputs: parameters of a distribution to sample from, or Q-values."""


def head_for(
    space: Action,
    log_std: float = 0.0,
    *,
    squash: bool = False,
    action_selection: ActionSelection = "sample",
) -> Head:
    """Returns the head for an action space. `log_std`: initial log standard deviation of a Box; `squash`:
    squash its actions by tanh. Raises ConfigError if the settings do not fit the space."""
    if action_selection == "epsilon_greedy":
        if not isinstance(space, DiscreteAction):
            what = f"this algorithm needs Discrete actions; these are {space.name} actions"
            raise ConfigError(what, fix="choose an algorithm that samples actions, such as ppo")
        return EpsilonGreedy(space)
    match space:
        case DiscreteAction():
            return Categorical(space)
        case MultiDiscreteAction():
            return MultiCategorical(space)
        case MultiBinaryAction():
            return Bernoulli(space)
        case BoxAction() if not squash:
            return Gaussian(space, log_std)
        case BoxAction():
            if not space.is_bounded:
                what = "policy.squash: on needs bounded actions; these are unbounded"
                raise ConfigError(what, fix="set policy.squash=off")
            return SquashedGaussian(space, log_std)
        case CompositeAction():
            return Composite(space, [head_for(x, log_std, squash=squash) for x in space.leaves])
        case _:
            raise TypeError(f"there is no head for {space.name} actions")
