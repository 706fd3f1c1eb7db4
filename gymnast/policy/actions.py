"""From network outputs to actions: one head per kind of action space, in NumPy.

A distribution is an array of parameters [..., k] (logits; or means and log standard deviations).
Randomness comes in as noise drawn beforehand, so that sampling is a pure function. The torch side
of the same mathematics is `engine/torch/distributions.py`; a test holds them together.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from gymnast.policy.spaces import Action, Amounts, Choice

Array = np.ndarray
FORBIDDEN = np.float32(-1e9)
"""Logit of an action that the mask rules out."""


class Head(Protocol):
    n_outputs: int
    """Width of the actor's last layer."""
    free: tuple[tuple[str, int, float], ...]
    """Parameters beside the network's output."""

    def parameters(self, output: Array, free: Array | None, mask: Array | None) -> Array: ...
    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array: ...
    def sample(self, dist: Array, noise: Array) -> Array: ...
    def mode(self, dist: Array) -> Array: ...
    def for_env(self, action: Array) -> Array: ...
    def logprob(self, dist: Array, action: Array) -> Array: ...
    def entropy(self, dist: Array) -> Array: ...
    def kl(self, old: Array, new: Array) -> Array: ...


class Categorical:
    """One of n. Parameters: logits [..., n]."""

    def __init__(self, space: Choice) -> None:
        self.space, self.n_outputs = space, space.n
        self.free: tuple[tuple[str, int, float], ...] = ()

    def parameters(self, output: Array, free: Array | None, mask: Array | None) -> Array:
        return output if mask is None else np.where(mask, output, FORBIDDEN)

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """A uniform number per action."""
        return stream.random(shape, dtype=np.float32)

    def sample(self, dist: Array, noise: Array) -> Array:
        """Where the cumulative probability passes the noise."""
        weight = np.exp(dist - dist.max(-1, keepdims=True))
        cumulative = np.cumsum(weight, -1)
        target = noise[..., None] * cumulative[..., -1:]
        return (cumulative[..., :-1] <= target).sum(-1)

    def mode(self, dist: Array) -> Array:
        return dist.argmax(-1)

    def for_env(self, action: Array) -> Array:
        return action + self.space.first

    def logprob(self, dist: Array, action: Array) -> Array:
        return np.take_along_axis(log_softmax(dist), action[..., None], -1)[..., 0]

    def entropy(self, dist: Array) -> Array:
        logp = log_softmax(dist)
        return -(np.exp(logp) * logp).sum(-1)

    def kl(self, old: Array, new: Array) -> Array:
        logp = log_softmax(old)
        return (np.exp(logp) * (logp - log_softmax(new))).sum(-1)


class Gaussian:
    """Independent normals. Parameters: means, then log standard deviations, [..., 2 a].

    The policy works in units where a bounded range is -1..1; the environment gets the action
    clipped to that range and scaled to its own units, the log-probability is of the action drawn.
    """

    def __init__(self, space: Amounts, log_std: float) -> None:
        self.space, self.n_outputs = space, space.size
        self.free = (("log_std", space.size, log_std),)
        low, high = np.array(space.low), np.array(space.high)
        self.bounded = np.isfinite(low) & np.isfinite(high)
        with np.errstate(invalid="ignore"):
            self.centre = np.where(self.bounded, (low + high) / 2, 0.0).astype(np.float32)
            self.half = np.where(self.bounded, (high - low) / 2, 1.0).astype(np.float32)
        self.low, self.high = low.astype(np.float32), high.astype(np.float32)

    def parameters(self, output: Array, free: Array | None, mask: Array | None) -> Array:
        return np.concatenate([output, np.broadcast_to(free, output.shape)], -1)  # type: ignore[arg-type]

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return stream.standard_normal((*shape, self.n_outputs), dtype=np.float32)

    def sample(self, dist: Array, noise: Array) -> Array:
        mean, log_std = self._split(dist)
        return mean + np.exp(log_std) * noise

    def mode(self, dist: Array) -> Array:
        return self._split(dist)[0]

    def for_env(self, action: Array) -> Array:
        scaled = np.clip(self.centre + self.half * action, self.low, self.high)
        return scaled.reshape(*action.shape[:-1], *self.space.shape)

    def logprob(self, dist: Array, action: Array) -> Array:
        mean, log_std = self._split(dist)
        z = (action - mean) * np.exp(-log_std)
        return (-0.5 * z * z - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)

    def entropy(self, dist: Array) -> Array:
        return (self._split(dist)[1] + 0.5 * math.log(2 * math.pi * math.e)).sum(-1)

    def kl(self, old: Array, new: Array) -> Array:
        (mean, log_std), (new_mean, new_log_std) = self._split(old), self._split(new)
        spread = np.exp(2 * (log_std - new_log_std))
        shift = ((mean - new_mean) * np.exp(-new_log_std)) ** 2
        return (new_log_std - log_std + 0.5 * (spread + shift - 1)).sum(-1)

    def _split(self, dist: Array) -> tuple[Array, Array]:
        return dist[..., : self.n_outputs], dist[..., self.n_outputs :]


def head_for(space: Action, log_std: float) -> Categorical | Gaussian:
    return Categorical(space) if isinstance(space, Choice) else Gaussian(space, log_std)


def log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
