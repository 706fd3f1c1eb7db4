"""`Head`: the action distribution of one kind of action space, in NumPy.

A distribution is an array of parameters [..., k] (logits, or means and log standard deviations).
The random noise is drawn beforehand and passed in, so that sampling is a pure function.
What does not depend on a policy, such as names, ranges and masks, is a property of `Head.space`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np

from gymnast.policy.layers import ExtraParameters
from gymnast.spaces.action import Action, ActionSpec

Array = np.ndarray
Family = Literal["categorical", "bernoulli", "gaussian", "squashed", "epsilon_greedy", "composite"]
"""The formulas of a head. Both engines implement those of each family."""


class Head(ABC):
    """The methods of every action head. `dist` are distribution parameters [..., dist_size].

    Log-probability, entropy and KL are [...], in nats, summed over the elements of an action.
    """

    family: Family
    space: Action
    n_outputs: int
    """Width of the actor's last layer."""
    dist_size: int
    """Number of parameters of one distribution."""
    action_spec: ActionSpec
    """Shape and dtype of one action as the policy chooses it: options are counted from 0."""
    extra_parameters: ExtraParameters = ()
    """Learned parameters that do not depend on the observation (log_std), at most one."""
    has_logits: bool = True
    """Whether all outputs of the actor are logits."""
    has_q_values: bool = False
    """Whether the outputs of the actor are Q-values."""

    @abstractmethod
    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        """Returns the distribution parameters, [..., dist_size], for the actor's outputs [..., n_outputs].
        `extra`: the value of the extra parameter, if there is one; `mask`: allowed options, [..., options],
        or None."""

    @abstractmethod
    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draws the noise that `sample` needs for actions of this batch shape."""

    @abstractmethod
    def sample(self, dist: Array, noise: Array) -> Array:
        """Returns the actions that this noise selects, for the noise of `noise`."""

    @abstractmethod
    def mode(self, dist: Array) -> Array:
        """Returns the actions of a deterministic policy."""

    @abstractmethod
    def for_env(self, action: Array) -> Array:
        """Returns the actions as rows of `space`, in the units of the environment."""

    @abstractmethod
    def logprob(self, dist: Array, action: Array) -> Array: ...

    @abstractmethod
    def entropy(self, dist: Array) -> Array: ...

    @abstractmethod
    def kl(self, old: Array, new: Array) -> Array:
        """Returns KL(old || new)."""

    @abstractmethod
    def probabilities(self, dist: Array) -> list[Array]:
        """Returns the probabilities of the options, [..., options], one array per discrete element or
        [..., elements, options] for all of them; [] for continuous actions."""

    def option_probabilities(self, dist: Array) -> Array:
        """Returns the probability of every option, [..., options], in the order of an action mask."""
        batch = dist.shape[:-1]
        parts = [p.reshape(*batch, -1) for p in self.probabilities(dist)]
        return np.concatenate(parts, -1) if parts else np.zeros((*batch, 0), np.float32)

    def measured(self, action: Array) -> Array:
        """Returns the actions in the units of metrics: options counted from 0, continuous elements as the
        environment receives them."""
        return action

    def split(self, dist: Array) -> list[tuple[Head, Array]]:
        """Returns the heads of the parts of a Tuple or Dict action, each with its distribution parameters;
        any other head is its only part."""
        return [(self, dist)]

    def table_columns(
        self, action: Array, dist: Array, labels: Sequence[str] = ()
    ) -> dict[str, Array]:
        """Returns the columns of the step table for actions [B, ...] with these distribution parameters [B,
        dist_size]. `labels`: declared names, used if their number fits."""
        greedy = (action == self.mode(dist)).reshape(len(action), -1).all(-1)
        return self._action_columns(action, labels) | {"greedy": greedy}

    def _action_columns(self, action: Array, labels: Sequence[str]) -> dict[str, Array]:
        """Returns one column per element of the actions."""
        names = self.space.names(labels)
        flat = action.reshape(len(action), len(names))
        return {f"action/{name}": flat[:, i] for i, name in enumerate(names)}
