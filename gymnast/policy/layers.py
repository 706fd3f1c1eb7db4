"""A network as data: three stacks of layers, and the parameters each layer owns.

    features -> shared -> actor  -> parameters of the action distribution
                      \\-> critic -> value

Weights are [n_in, n_out], so a layer is `x @ weight + bias`. Engines run this description; none
of them owns it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Embedding:
    n: int
    width: int


@dataclass(frozen=True)
class Linear:
    n_in: int
    n_out: int
    gain: float
    """Scale of the orthogonal initial weights."""


@dataclass(frozen=True)
class LayerNorm:
    width: int


@dataclass(frozen=True)
class Activation:
    kind: Literal["tanh", "relu"]


Layer = Embedding | Linear | LayerNorm | Activation
Stack = tuple[Layer, ...]


@dataclass(frozen=True)
class Network:
    shared: Stack
    actor: Stack
    critic: Stack
    free: tuple[tuple[str, int, float], ...] = ()
    """Parameters that no input reaches (a Gaussian's log_std): name, size, initial value."""

    def stacks(self) -> Iterator[tuple[str, Stack]]:
        yield from (("shared", self.shared), ("actor", self.actor), ("critic", self.critic))


def mlp(
    source: Embedding | int,
    *,
    hidden: tuple[int, ...],
    activation: Literal["tanh", "relu"],
    layer_norm: bool,
) -> tuple[Stack, int]:
    """The stack from features to the last hidden layer, and its width."""
    layers: list[Layer] = []
    if isinstance(source, Embedding):
        layers.append(source)
    width = source.width if isinstance(source, Embedding) else source
    for n in hidden:
        layers.append(Linear(width, n, gain=float(np.sqrt(2))))
        if layer_norm:
            layers.append(LayerNorm(n))
        layers.append(Activation(activation))
        width = n
    return tuple(layers), width


def actor_critic(
    source: Embedding | int,
    n_outputs: int,
    *,
    hidden: tuple[int, ...],
    activation: Literal["tanh", "relu"],
    layer_norm: bool,
    shared: bool,
    free: tuple[tuple[str, int, float], ...],
) -> Network:
    """An MLP for actor and critic, with one trunk or two. A near-zero actor head starts the policy
    close to uniform."""
    trunk, width = mlp(source, hidden=hidden, activation=activation, layer_norm=layer_norm)
    actor, critic = (Linear(width, n_outputs, gain=0.01),), (Linear(width, 1, gain=1.0),)
    if shared:
        return Network(trunk, actor, critic, free)
    return Network((), trunk + actor, trunk + critic, free)


def parameter_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    """Name -> shape, in the order they lie in memory: shared, actor, free, critic."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part, stack in network.stacks():
        if part == "critic":
            shapes |= {f"actor.{name}": (size,) for name, size, _ in network.free}
        for i, layer in enumerate(stack):
            shapes |= {f"{part}.{i}.{name}": shape for name, shape in _shapes(layer).items()}
    return shapes


def initial(network: Network, name: str, shape: tuple[int, ...], stream: np.random.Generator):
    """Initial value of one parameter."""
    part, key, *rest = name.split(".")
    if not rest:
        return np.full(shape, next(value for free, _, value in network.free if free == key))
    layer = getattr(network, part)[int(key)]
    if isinstance(layer, Linear) and rest == ["weight"]:
        return orthogonal(shape, stream) * layer.gain
    if isinstance(layer, Embedding):
        return stream.standard_normal(shape)
    return np.full(shape, 1.0 if rest == ["scale"] else 0.0)


def orthogonal(shape: tuple[int, ...], stream: np.random.Generator) -> np.ndarray:
    """A random matrix with orthonormal rows or columns, whichever are fewer (arXiv:1312.6120)."""
    rows, columns = shape
    gaussian = stream.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(gaussian)
    q = q * np.sign(np.diag(r))
    return q if rows >= columns else q.T


def _shapes(layer: Layer) -> dict[str, tuple[int, ...]]:
    match layer:
        case Embedding(n, width):
            return {"weight": (n, width)}
        case Linear(n_in, n_out):
            return {"weight": (n_in, n_out), "bias": (n_out,)}
        case LayerNorm(width):
            return {"scale": (width,), "bias": (width,)}
        case Activation():
            return {}
