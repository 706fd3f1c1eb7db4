"""Heads for actions that are amounts: normals, clipped or squashed into their range.

The policy works in units where a bounded range is -1..1; the environment gets its own units.
"""

from __future__ import annotations

import math

import numpy as np

from gymnast.spaces.actions import ActionSpec, BoxAction

Array = np.ndarray

NODES = np.linspace(-5.0, 5.0, 48)
"""Where a mean over a normal is taken: evenly spaced in deviations. For smooth functions the error
falls exponentially, also for deviations so large that Gauss-Hermite nodes lie too far apart."""
WEIGHTS = np.exp(-0.5 * NODES**2) / np.exp(-0.5 * NODES**2).sum()


class Gaussian:
    """Independent normals. Parameters: means, then log standard deviations, [..., 2 a].

    The environment gets the action clipped to its range; the log-probability is of the action drawn.
    """

    def __init__(self, space: BoxAction, log_std: float) -> None:
        self.space, self.n_outputs = space, space.size
        self.n_parameters = 2 * space.size
        self.kind = ActionSpec((space.size,), np.dtype(np.float32))
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


class SquashedGaussian:
    """Normals squashed into -1..1 by tanh, so that nothing is ever clipped. Parameters as Gaussian's.

    An action is kept as it was before tanh. Log-probability and entropy are of the squashed action
    in units where the range is -1..1; tanh is one-to-one, so KL is that of the normals.
    """

    def __init__(self, space: BoxAction, log_std: float) -> None:
        self.space, self.n_outputs = space, space.size
        self.normal = Gaussian(space, log_std)
        self.n_parameters, self.kind = self.normal.n_parameters, self.normal.kind
        self.free = self.normal.free
        self.parameters, self.noise = self.normal.parameters, self.normal.noise
        self.sample, self.kl = self.normal.sample, self.normal.kl

    def mode(self, dist: Array) -> Array:
        """The median: half of the actions lie on either side."""
        return self.normal.mode(dist)

    def for_env(self, action: Array) -> Array:
        return self.normal.for_env(np.tanh(action))

    def logprob(self, dist: Array, action: Array) -> Array:
        return self.normal.logprob(dist, action) - log_slope(action).sum(-1)

    def entropy(self, dist: Array) -> Array:
        """Of the normals, plus the mean logarithm of tanh's slope under them."""
        mean, log_std = self.normal._split(dist)
        nodes, weights = NODES.astype(np.float32), WEIGHTS.astype(np.float32)
        slope = log_slope(mean[..., None] + np.exp(log_std)[..., None] * nodes) @ weights
        return self.normal.entropy(dist) + slope.sum(-1)


def log_slope(x: Array) -> Array:
    """ln(1 - tanh(x)^2), exact for x of any size."""
    size = np.abs(x)
    return 2 * (math.log(2) - size - np.log1p(np.exp(-2 * size)))
