"""Action heads: one action distribution per kind of action space, in NumPy.

A distribution is an array of parameters [..., k] (logits, or means and log standard deviations).
The random noise is drawn beforehand and passed in, so that sampling is a pure function.
`engine/torch/distributions.py` has the same mathematics for autograd; a test compares the two.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from gymnast.errors import ConfigError
from gymnast.policy.continuous import Gaussian, SquashedGaussian
from gymnast.policy.discrete import (
    MASKED_LOGIT,
    Bernoulli,
    Categorical,
    EpsilonGreedy,
    MultiCategorical,
    log_softmax,
)
from gymnast.policy.layers import ExtraParameters
from gymnast.spaces.actions import (
    Action,
    ActionSpec,
    BoxAction,
    DiscreteAction,
    MultiBinaryAction,
    MultiDiscreteAction,
)

__all__ = [
    "MASKED_LOGIT",
    "ActionSelection",
    "AnyHead",
    "Bernoulli",
    "Categorical",
    "EpsilonGreedy",
    "Gaussian",
    "Head",
    "MultiCategorical",
    "SquashedGaussian",
    "head_for",
    "log_softmax",
]

Array = np.ndarray
ActionSelection = Literal["sample", "epsilon_greedy"]
"""Meaning of the network's outputs: parameters of a distribution to sample from, or Q-values."""


class Head(Protocol):
    """The methods of every action head. `dist` are distribution parameters [..., dist_size].

    Log-probability, entropy and KL are [...], in nats, summed over the elements of an action.
    """

    n_outputs: int
    """Width of the actor's last layer."""
    dist_size: int
    """Number of parameters of one distribution."""
    action_spec: ActionSpec
    """Shape and dtype of one action."""
    extra_parameters: ExtraParameters
    """Learned parameters that do not depend on the observation (log_std), at most one."""

    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        """Returns the distribution parameters, [..., dist_size], for the actor's outputs [..., n_outputs].
        `extra`: the value of the extra parameter, if there is one; `mask`: allowed options, [..., options],
        or None."""
        ...

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draws the noise that `sample` needs for actions of this batch shape."""
        ...

    def sample(self, dist: Array, noise: Array) -> Array:
        """Returns the actions that this noise selects, for the noise of `noise`."""
        ...

    def mode(self, dist: Array) -> Array:
        """Returns the actions of a deterministic policy."""
        ...

    def for_env(self, action: Array) -> Array:
        """Returns the actions in the shape and units of the environment's action space."""
        ...

    def logprob(self, dist: Array, action: Array) -> Array: ...
    def entropy(self, dist: Array) -> Array: ...
    def kl(self, old: Array, new: Array) -> Array:
        """Returns KL(old || new)."""
        ...


AnyHead = Categorical | MultiCategorical | Bernoulli | EpsilonGreedy | Gaussian | SquashedGaussian


def head_for(
    space: Action,
    log_std: float = 0.0,
    *,
    squash: bool = False,
    action_selection: ActionSelection = "sample",
) -> AnyHead:
    """Returns the head for an action space. `log_std`: initial log standard deviation of a Box; `squash`:
    squash its actions by tanh. Raises ConfigError if the settings do not fit the space."""
    if action_selection == "epsilon_greedy":
        if not isinstance(space, DiscreteAction):
            what = f"this algorithm needs Discrete actions; these are {_NAMES[type(space)]}"
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


_NAMES = {
    MultiDiscreteAction: "MultiDiscrete actions",
    MultiBinaryAction: "MultiBinary actions",
    BoxAction: "Box actions",
}
