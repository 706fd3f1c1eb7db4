"""Heads for Discrete, MultiDiscrete and MultiBinary actions, and epsilon-greedy for Q-values.

Options that the action mask rules out have a probability of exactly 0: they are never sampled, and
add nothing to entropy or KL.
"""

from __future__ import annotations

import numpy as np

from gymnast.policy.head import Head
from gymnast.policy.layers import ExtraParameters
from gymnast.spaces.action import NO_NAMES, ActionNames
from gymnast.spaces.actions import (
    ActionSpec,
    DiscreteAction,
    MultiBinaryAction,
    MultiDiscreteAction,
)

Array = np.ndarray
MASKED_LOGIT = np.float32(-1e9)
"""Logit of an action that the mask rules out. Infinity would give NaN: inf - inf in the softmax."""
MAX_EPSILON = np.float32(1 - 1e-6)
"""Slightly below 1, so that the greedy action is still the most likely one."""


class Categorical(Head):
    """One of n options. The parameters are logits [..., n]."""

    family = "categorical"

    def __init__(self, space: DiscreteAction) -> None:
        self.space, self.first, self.n_outputs = space, space.first, space.n
        self.dist_size, self.action_spec = space.n, ActionSpec((), np.dtype(np.int64))

    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        return output if mask is None else np.where(mask, output, MASKED_LOGIT)

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Returns one uniform random number per action."""
        return stream.random(shape, dtype=np.float32)

    def sample(self, dist: Array, noise: Array) -> Array:
        """Returns the option at which the cumulative probability exceeds the noise."""
        weight = np.exp(dist - dist.max(-1, keepdims=True))  # minus the maximum: no overflow
        cumulative = np.cumsum(weight, -1)
        # Scaling the noise by the sum saves the division of every weight.
        target = noise[..., None] * cumulative[..., -1:]
        # `<=`: a masked option (weight 0) is passed over even if the noise is exactly 0
        return (cumulative[..., :-1] <= target).sum(-1)

    def mode(self, dist: Array) -> Array:
        return dist.argmax(-1)

    def for_env(self, action: Array) -> Array:
        return action + self.first

    def logprob(self, dist: Array, action: Array) -> Array:
        return np.take_along_axis(log_softmax(dist), action[..., None], -1)[..., 0]

    def entropy(self, dist: Array) -> Array:
        logp = log_softmax(dist)
        return -(np.exp(logp) * logp).sum(-1)

    def kl(self, old: Array, new: Array) -> Array:
        logp = log_softmax(old)
        return (np.exp(logp) * (logp - log_softmax(new))).sum(-1)

    def probabilities(self, dist: Array) -> list[Array]:
        return [np.exp(log_softmax(dist))]

    def table_columns(
        self, action: Array, dist: Array, declared: ActionNames = NO_NAMES
    ) -> dict[str, Array]:
        """Returns the name of the action, whether it is the most likely one, and the probability of each."""
        names, (probability,) = self.space.names(declared.actions), self.probabilities(dist)
        return {
            "action": np.array(names, dtype=object)[action],
            "greedy": action == self.mode(dist),
            **{f"p/{name}": probability[:, i] for i, name in enumerate(names)},
        }


class MultiCategorical(Head):
    """One of n options for each of k independent elements. The parameters are all logits, concatenated."""

    family = "categorical"

    def __init__(self, space: MultiDiscreteAction) -> None:
        self.space, self.n_outputs, self.dtype = space, sum(space.n), space.dtype
        self.dist_size = self.n_outputs
        self.action_spec = ActionSpec((len(space.n),), np.dtype(np.int64))
        self.elements = [Categorical(DiscreteAction(n, 0)) for n in space.n]
        self.ends = np.cumsum(space.n)[:-1]
        self.first = np.array(space.first).reshape(space.shape)

    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        return output if mask is None else np.where(mask, output, MASKED_LOGIT)

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return stream.random((*shape, len(self.elements)), dtype=np.float32)

    def sample(self, dist: Array, noise: Array) -> Array:
        parts = zip(self.elements, self._split(dist), np.moveaxis(noise, -1, 0), strict=True)
        return np.stack([head.sample(logits, u) for head, logits, u in parts], -1)

    def mode(self, dist: Array) -> Array:
        return np.stack([logits.argmax(-1) for logits in self._split(dist)], -1)

    def for_env(self, action: Array) -> Array:
        rows = action.reshape(*action.shape[:-1], *self.first.shape) + self.first
        return rows.astype(self.dtype, copy=False)

    def logprob(self, dist: Array, action: Array) -> Array:
        parts = zip(self.elements, self._split(dist), np.moveaxis(action, -1, 0), strict=True)
        return sum_of([head.logprob(logits, a) for head, logits, a in parts])

    def entropy(self, dist: Array) -> Array:
        parts = zip(self.elements, self._split(dist), strict=True)
        return sum_of([head.entropy(logits) for head, logits in parts])

    def kl(self, old: Array, new: Array) -> Array:
        parts = zip(self.elements, self._split(old), self._split(new), strict=True)
        return sum_of([head.kl(before, after) for head, before, after in parts])

    def probabilities(self, dist: Array) -> list[Array]:
        return [np.exp(log_softmax(logits)) for logits in self._split(dist)]

    def _split(self, dist: Array) -> list[Array]:
        return np.split(dist, self.ends, -1)


class Bernoulli(Head):
    """Independent Bernoulli variables, on or off. The parameters are the logits of on, [..., k]."""

    family = "bernoulli"

    def __init__(self, space: MultiBinaryAction) -> None:
        self.space, self.shape, self.n_outputs = space, space.shape, space.size
        self.dist_size = space.size
        self.action_spec = ActionSpec((space.size,), np.dtype(np.int64))

    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        """Returns the masked logits. A mask has two entries per element: may be off, may be on."""
        if mask is None:
            return output
        may_be_off, may_be_on = mask[..., ::2], mask[..., 1::2]
        return np.where(may_be_on, np.where(may_be_off, output, -MASKED_LOGIT), MASKED_LOGIT)

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return stream.random((*shape, self.n_outputs), dtype=np.float32)

    def sample(self, dist: Array, noise: Array) -> Array:
        return (noise < self._on(dist)).astype(np.int64)

    def mode(self, dist: Array) -> Array:
        return (dist > 0).astype(np.int64)

    def for_env(self, action: Array) -> Array:
        return action.astype(np.int8).reshape(*action.shape[:-1], *self.shape)

    def logprob(self, dist: Array, action: Array) -> Array:
        return -_softplus(np.where(action == 1, -dist, dist)).sum(-1)

    def entropy(self, dist: Array) -> Array:
        on = self._on(dist)
        return (on * _softplus(-dist) + (1 - on) * _softplus(dist)).sum(-1)

    def kl(self, old: Array, new: Array) -> Array:
        on = self._on(old)
        when_on = on * (_softplus(-new) - _softplus(-old))
        return (when_on + (1 - on) * (_softplus(new) - _softplus(old))).sum(-1)

    def probabilities(self, dist: Array) -> list[Array]:
        """Returns the probabilities of off and on, [..., elements, 2]."""
        # the softmax of (0, logit) is (P(off), P(on))
        return [np.exp(log_softmax(np.stack([np.zeros_like(dist), dist], -1)))]

    def _on(self, dist: Array) -> Array:
        """Returns the probability of on; exactly 0 or 1 where the mask leaves no choice."""
        return 0.5 * (1 + np.tanh(0.5 * dist))


class EpsilonGreedy(Categorical):
    """The action with the highest Q-value, or with probability epsilon a uniformly random one.

    The network outputs Q-values. Sampling, entropy and KL are those of a Categorical whose logits are
    the log-probabilities of this policy.
    """

    family = "epsilon_greedy"
    extra_parameters: ExtraParameters = (("epsilon", 1, 1.0),)
    has_logits = False
    has_q_values = True

    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        """Returns the log-probabilities of the actions for Q-values; `extra` is epsilon."""
        assert extra is not None
        allowed = np.ones(output.shape, bool) if mask is None else mask
        epsilon = np.clip(extra, 0.0, MAX_EPSILON)
        best = np.where(allowed, output, -np.inf).argmax(-1)
        greedy = np.arange(self.n_outputs) == best[..., None]
        # the random action is drawn from all allowed ones, the greedy one included
        uniform = np.where(allowed, epsilon / allowed.sum(-1, keepdims=True), 0.0)
        probability = uniform + greedy * (1 - epsilon)
        with np.errstate(divide="ignore"):  # log 0 = -inf is replaced
            return np.maximum(np.log(probability), MASKED_LOGIT).astype(np.float32)


def log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(-1, keepdims=True)  # so that no exponential overflows
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def sum_of(parts: list[Array]) -> Array:
    """Returns the sum over independent elements, each an array of the same shape."""
    return np.sum(parts, axis=0)


def _softplus(x: Array) -> Array:
    """Returns ln(1 + e^x) without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
