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
from gymnast.spaces.action import NO_NAMES, Action, ActionNames, ActionSpec

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

    def std(self, dist: Array) -> Array | None:
        """Returns the standard deviation of every element, [..., elements], in the units of the environment,
        before clipping and squashing; None unless all of them are continuous."""
        return None

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

    def from_env(self, rows: Array) -> Array:
        """Returns the policy's actions [..., *action_spec.shape] for rows of `space`: the inverse of
        `for_env`, except that an action outside the range becomes one at its bound."""
        spec, batch = self.action_spec, rows.shape[: rows.ndim - len(self.space.row_spec.shape)]
        flat = self.space.flatten(rows.astype(self.space.row_spec.dtype))
        return self.from_measured(flat.astype(spec.dtype).reshape(*batch, *spec.shape))

    def from_measured(self, measured: Array) -> Array:
        """Returns the policy's actions for actions [..., *action_spec.shape] in the units of `measured`."""
        return measured

    def table_columns(
        self, action: Array, dist: Array, declared: ActionNames = NO_NAMES
    ) -> dict[str, Array]:
        """Returns the columns of the step table for actions [B, ...] with these distribution parameters [B,
        dist_size]: the elements of the action; whether all options are the most likely ones; the probability
        of each option; means and standard deviations of continuous elements. `declared`: names, used
        if their number fits."""
        columns = self._action_columns(action, declared.actions)
        options = ~self.space.is_continuous
        if options.any():
            most_likely = (action == self.mode(dist)).reshape(len(action), len(options))
            columns["greedy"] = most_likely[:, options].all(-1)
            names, probability = self.space.option_names(declared), self.option_probabilities(dist)
            columns |= {f"p/{name}": probability[:, i] for i, name in enumerate(names)}
        return columns | self.continuous_columns(dist, self.space.names(declared.actions))

    def continuous_columns(self, dist: Array, names: Sequence[str]) -> dict[str, Array]:
        """Returns the columns of the distributions of continuous elements, for distribution parameters [B,
        dist_size]. `names`: one per element of an action."""
        return {}

    def _action_columns(self, action: Array, labels: Sequence[str]) -> dict[str, Array]:
        """Returns one column per element of the actions, as they are `measured`."""
        names = self.space.names(labels)
        flat = self.measured(action).reshape(len(action), len(names))
        return {f"action/{name}": flat[:, i] for i, name in enumerate(names)}
