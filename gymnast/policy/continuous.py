"""Heads for Box actions: Gaussians, clipped or squashed to the range of the action space.

The policy works in units in which a bounded range is -1..1; `for_env` converts to the environment's units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gymnast.policy.head import Head
from gymnast.policy.layers import ExtraParameters
from gymnast.spaces.actions import ActionSpec, BoxAction

Array = np.ndarray

QUADRATURE_NODES = np.linspace(-5.0, 5.0, 48)
"""Nodes at which the expectation over a standard normal is evaluated, evenly spaced. For smooth functions
the error falls exponentially with the number of nodes, even for standard deviations so large that
Gauss-Hermite nodes would lie too far apart."""
QUADRATURE_WEIGHTS = np.exp(-0.5 * QUADRATURE_NODES**2) / np.exp(-0.5 * QUADRATURE_NODES**2).sum()
"""Weights of the nodes."""
LARGEST_TANH = np.float32(1 - 1e-6)
"""Largest size of a squashed action whose inverse is computed."""


class Gaussian(Head):
    """Independent normals. The parameters are the means, then the log standard deviations, [..., 2 a].

    The environment receives the action clipped to its range; the log-probability is that of the
    sampled action before clipping.
    """

    family = "gaussian"
    has_logits = False

    def __init__(self, space: BoxAction, log_std: float) -> None:
        self.space, self.shape, self.n_outputs = space, space.shape, space.size
        self.dist_size = 2 * space.size
        self.action_spec = ActionSpec((space.size,), np.dtype(np.float32))
        self.extra_parameters: ExtraParameters = (("log_std", space.size, log_std),)
        low, high = np.array(space.low), np.array(space.high)
        self.bounded = np.isfinite(low) & np.isfinite(high)
        # Components without a finite range keep their units. np.where computes inf - inf for them too.
        with np.errstate(invalid="ignore"):
            self.center = np.where(self.bounded, (low + high) / 2, 0.0).astype(np.float32)
            self.half = np.where(self.bounded, (high - low) / 2, 1.0).astype(np.float32)
        self.low, self.high = low.astype(np.float32), high.astype(np.float32)

    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        # `extra` is log_std [a], the same for every observation: means [..., a] -> [..., 2 a]
        return np.concatenate([output, np.broadcast_to(extra, output.shape)], -1)  # type: ignore[arg-type]

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return stream.standard_normal((*shape, self.n_outputs), dtype=np.float32)

    def sample(self, dist: Array, noise: Array) -> Array:
        mean, log_std = self._split(dist)
        return mean + np.exp(log_std) * noise

    def mode(self, dist: Array) -> Array:
        return self._split(dist)[0]

    def for_env(self, action: Array) -> Array:
        scaled = np.clip(self.center + self.half * action, self.low, self.high)
        return scaled.reshape(*action.shape[:-1], *self.shape)

    def logprob(self, dist: Array, action: Array) -> Array:
        mean, log_std = self._split(dist)
        z = (action - mean) * np.exp(-log_std)
        return (-0.5 * z * z - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)

    def entropy(self, dist: Array) -> Array:
        return (self._split(dist)[1] + 0.5 * math.log(2 * math.pi * math.e)).sum(-1)

    def kl(self, old: Array, new: Array) -> Array:
        (mean, log_std), (new_mean, new_log_std) = self._split(old), self._split(new)
        # ln(s'/s) + (s^2 / s'^2 + (m - m')^2 / s'^2 - 1) / 2 for each component, primes for the new one
        spread = np.exp(2 * (log_std - new_log_std))
        shift = ((mean - new_mean) * np.exp(-new_log_std)) ** 2
        return (new_log_std - log_std + 0.5 * (spread + shift - 1)).sum(-1)

    def probabilities(self, dist: Array) -> list[Array]:
        return []

    def measured(self, action: Array) -> Array:
        return self.for_env(action)

    def from_measured(self, measured: Array) -> Array:
        # The half width of a range that is a single number is 0.
        return (measured - self.center) / np.where(self.half == 0, np.float32(1), self.half)

    def continuous_columns(self, dist: Array, names: Sequence[str]) -> dict[str, Array]:
        mean = self.measured(self.mode(dist)).reshape(len(dist), self.n_outputs)
        columns = {f"mean/{name}": mean[:, i] for i, name in enumerate(names)}
        return columns | self._std_columns(dist, names)

    def _std_columns(self, dist: Array, names: Sequence[str]) -> dict[str, Array]:
        std = self.std(dist)
        return {f"std/{name}": std[:, i] for i, name in enumerate(names)}

    def std(self, dist: Array) -> Array:
        return self.half * np.exp(self._split(dist)[1])

    def _split(self, dist: Array) -> tuple[Array, Array]:
        return dist[..., : self.n_outputs], dist[..., self.n_outputs :]


class SquashedGaussian(Gaussian):
    """Normals squashed to -1..1 by tanh, so that no action is clipped. It has the parameters of Gaussian.

    An action is stored before tanh. Log-probability and entropy are those of the squashed action in
    units in which the range is -1..1. The KL is that of the normals, because tanh is one-to-one, and
    the mode is the median, because there is no closed form of the mode.
    """

    family = "squashed"

    def for_env(self, action: Array) -> Array:
        return super().for_env(np.tanh(action))

    def from_measured(self, measured: Array) -> Array:
        # The bounds themselves are tanh of infinity.
        squashed = np.clip(super().from_measured(measured), -LARGEST_TANH, LARGEST_TANH)
        return np.arctanh(squashed)

    def _std_columns(self, dist: Array, names: Sequence[str]) -> dict[str, Array]:
        return {}  # the standard deviation after tanh has no closed form

    def logprob(self, dist: Array, action: Array) -> Array:
        # change of variables: y = tanh(x) has the density p(x) / (1 - tanh(x)^2)
        return super().logprob(dist, action) - log_slope(action).sum(-1)

    def entropy(self, dist: Array) -> Array:
        """Returns the entropy of the normals plus the expected log derivative of tanh."""
        mean, log_std = self._split(dist)
        nodes, weights = QUADRATURE_NODES.astype(np.float32), QUADRATURE_WEIGHTS.astype(np.float32)
        # [..., a, nodes] @ [nodes] -> [..., a]
        slope = log_slope(mean[..., None] + np.exp(log_std)[..., None] * nodes) @ weights
        return super().entropy(dist) + slope.sum(-1)


def log_slope(x: Array) -> Array:
    """Returns ln(1 - tanh(x)^2), the log derivative of tanh, without cancellation for large |x|."""
    size = np.abs(x)
    return 2 * (math.log(2) - size - np.log1p(np.exp(-2 * size)))
