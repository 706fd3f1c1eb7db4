"""From network outputs to actions: one head per kind of action space, in NumPy.

A distribution is an array of parameters [..., k] (logits; or means and log standard deviations).
Randomness comes in as noise drawn beforehand, so that sampling is a pure function. The torch side
of the same mathematics is `engine/torch/distributions.py`; a test holds them together.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from gymnast.errors import ConfigError
from gymnast.policy.continuous import Gaussian, SquashedGaussian
from gymnast.policy.discrete import (
    FORBIDDEN,
    Bernoulli,
    Categorical,
    EpsilonGreedy,
    MultiCategorical,
    log_softmax,
)
from gymnast.spaces.actions import (
    Action,
    ActionSpec,
    BoxAction,
    DiscreteAction,
    MultiBinaryAction,
    MultiDiscreteAction,
)

__all__ = [
    "FORBIDDEN",
    "Acts",
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
Acts = Literal["sample", "epsilon_greedy"]
"""What the network's outputs are: parameters of a distribution to draw from, or action values."""


class Head(Protocol):
    n_outputs: int
    """Width of the actor's last layer."""
    n_parameters: int
    """Numbers that describe one distribution."""
    kind: ActionSpec
    extra_parameters: tuple[tuple[str, int, float], ...]
    """Parameters beside the network's output, at most one: name, size, initial value."""

    def parameters(self, output: Array, free: Array | None, mask: Array | None) -> Array: ...
    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array: ...
    def sample(self, dist: Array, noise: Array) -> Array: ...
    def mode(self, dist: Array) -> Array: ...
    def for_env(self, action: Array) -> Array: ...
    def logprob(self, dist: Array, action: Array) -> Array: ...
    def entropy(self, dist: Array) -> Array: ...
    def kl(self, old: Array, new: Array) -> Array: ...


AnyHead = Categorical | MultiCategorical | Bernoulli | EpsilonGreedy | Gaussian | SquashedGaussian


def head_for(
    space: Action, log_std: float = 0.0, *, squash: bool = False, acts: Acts = "sample"
) -> AnyHead:
    if acts == "epsilon_greedy":
        if not isinstance(space, DiscreteAction):
            what = f"this algorithm learns a value per action, which {_NAMES[type(space)]} have not"
            raise ConfigError(what, fix="choose an algorithm that draws actions, such as ppo")
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
                what = "policy.squash: on needs actions with a lowest and a highest value"
                raise ConfigError(f"{what}; these are unbounded", fix="set policy.squash=off")
            return SquashedGaussian(space, log_std)


_NAMES = {
    MultiDiscreteAction: "MultiDiscrete actions",
    MultiBinaryAction: "MultiBinary actions",
    BoxAction: "Box actions",
}
