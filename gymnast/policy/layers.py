"""A network described as data: three stacks of layers, and the parameters of each layer.

    features -> shared -> actor  -> parameters of the action distribution
                      \\-> critic -> value

Weights are [n_in, n_out], so that a layer is `x @ weight + bias`; those of a convolution are
[out, in, height, width]. Both engines and the NumPy inference run this description. A stack with
recurrent layers also maps a state to the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gymnast.config.memory_spec import CellName
from gymnast.config.sections.policy import ActivationName
from gymnast.policy.cells import CELLS, Cell
from gymnast.spaces.observations import Observation, planes_of

Shape = tuple[int, ...]
ExtraParameters = tuple[tuple[str, int, float], ...]
"""Learned parameters that do not depend on the observation: name, size, initial value."""


@dataclass(frozen=True)
class Embedding:
    """Category indices [...] -> their rows of a table, [..., width]."""

    n: int
    width: int


@dataclass(frozen=True)
class Linear:
    """Features [B, n_in] -> [B, n_out]."""

    n_in: int
    n_out: int
    gain: float
    """Scale of the orthogonal initial weights."""


@dataclass(frozen=True)
class LayerNorm:
    """Normalizes each row [width], then applies a learned scale and bias."""

    width: int


@dataclass(frozen=True)
class Activation:
    kind: ActivationName


@dataclass(frozen=True)
class Flatten:
    """[B, ...] -> [B, n]"""


@dataclass(frozen=True)
class Pixels:
    """Images of bytes in the environment's layout -> floats in 0..1, [B, channels, height, width]."""

    shape: Shape
    channels: Literal["first", "last"]
    top: int
    """The byte that is scaled to 1."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """The dtype of the output, and so of the layers after it."""

    @property
    def planes(self) -> tuple[int, int, int]:
        """Channels, height and width of the input."""
        return planes_of(self.shape, self.channels)


@dataclass(frozen=True)
class Float32:
    """Casts to float32."""


@dataclass(frozen=True)
class Conv:
    """Images [B, n_in, height, width] -> [B, n_out, ...], with a square kernel."""

    n_in: int
    n_out: int
    kernel: int
    stride: int = 1
    padding: int = 0
    gain: float = float(np.sqrt(2))


@dataclass(frozen=True)
class MaxPool:
    """The maximum of each square window of an image."""

    kernel: int
    stride: int
    padding: int


@dataclass(frozen=True)
class Residual:
    """x + stack(x)"""

    stack: Stack


@dataclass(frozen=True)
class Parallel:
    """One stack per field of a record, their outputs concatenated.

    The records are given as bytes, [B, size of a record].
    """

    dtype: np.dtype[Any]
    branches: tuple[tuple[str, Stack], ...]


@dataclass(frozen=True)
class Recurrent:
    """Features [B, n_in] and a state [B, state_size] -> [B, n_out] and the next state."""

    kind: CellName
    n_in: int
    n_out: int

    @property
    def cell(self) -> Cell:
        return CELLS[self.kind]

    @property
    def state_size(self) -> int:
        """Number of floats in the state of one row."""
        return self.cell.vectors * self.n_out


Layer = (
    Embedding
    | Linear
    | Recurrent
    | LayerNorm
    | Activation
    | Flatten
    | Pixels
    | Float32
    | Conv
    | MaxPool
    | Residual
    | Parallel
)
Stack = tuple[Layer, ...]


@dataclass(frozen=True)
class CustomModuleSpec:
    """A torch module of the user in place of all layers; see `engine/torch/custom_module.py`."""

    path: str
    """Import path, `package.module:Class`."""
    kwargs: dict[str, Any]
    observation: Observation
    n_outputs: int


@dataclass(frozen=True)
class Network:
    """The layers of a policy; see the picture at the top of this file."""

    shared: Stack
    actor: Stack
    critic: Stack
    """Empty if the actor's outputs are Q-values."""
    extra_parameters: ExtraParameters = ()
    """Learned parameters that do not depend on the observation, such as a Gaussian's log_std."""
    module: CustomModuleSpec | None = None

    @cached_property
    def is_expensive(self) -> bool:
        """Whether a forward pass of one row is expensive: images, or a module of the user."""
        return self.module is not None or any(isinstance(x, Pixels) for _, x in self.layers())

    @cached_property
    def state_slices(self) -> dict[str, slice]:
        """The part of a policy state [B, state_size] that each recurrent layer owns, by its name."""
        # Recurrent layers are never nested: they lie between the encoder and the hidden layers.
        slices: dict[str, slice] = {}
        start = 0
        for name, layer in self.recurrent_layers():
            slices[name] = slice(start, start + layer.state_size)
            start += layer.state_size
        return slices

    @cached_property
    def state_size(self) -> int:
        """Number of floats in the policy state of one row; 0 without memory."""
        return sum(layer.state_size for _, layer in self.recurrent_layers())

    def recurrent_layers(self) -> Iterator[tuple[str, Recurrent]]:
        """Yields the recurrent layers with their names, in the order of their parts of the state."""
        for part, stack in self.stacks():
            for i, layer in enumerate(stack):
                if isinstance(layer, Recurrent):
                    yield f"{part}.{i}", layer

    def stacks(self) -> Iterator[tuple[str, Stack]]:
        yield from (("shared", self.shared), ("actor", self.actor), ("critic", self.critic))

    def layers(self) -> Iterator[tuple[str, Layer]]:
        """Yields every layer with its name. Nested layers follow the layer that contains them."""
        for part, stack in self.stacks():
            yield from iter_layers(part, stack)


def iter_layers(name: str, stack: Stack) -> Iterator[tuple[str, Layer]]:
    """Yields every layer of a stack, nested ones included, with its name."""
    for i, layer in enumerate(stack):
        yield f"{name}.{i}", layer
        for inner, part in nested_stacks(layer):
            yield from iter_layers(f"{name}.{i}{inner}", part)


def nested_stacks(layer: Layer) -> Iterator[tuple[str, Stack]]:
    """Yields the stacks inside a layer, each with the suffix that it adds to the layer's name."""
    if isinstance(layer, Residual):
        yield "", layer.stack
    elif isinstance(layer, Parallel):
        yield from ((f".{name}", stack) for name, stack in layer.branches)


def parameter_shapes(network: Network) -> dict[str, Shape]:
    """Returns the shape of every parameter by name, in memory order: shared, actor, extra, critic."""
    shapes: dict[str, Shape] = {}
    for part, stack in network.stacks():
        if part == "critic":
            # With the actor's layers, so that everything named `actor.` is one contiguous slice.
            shapes |= extra_parameter_shapes(network.extra_parameters)
        for name, layer in iter_layers(part, stack):
            shapes |= {f"{name}.{key}": shape for key, shape in _shapes(layer).items()}
    return shapes


def extra_parameter_shapes(extra: ExtraParameters) -> dict[str, Shape]:
    return {f"actor.{name}": (size,) for name, size, _ in extra}


def _shapes(layer: Layer) -> dict[str, Shape]:
    """Returns the shapes of a layer's own parameters; none for layers without parameters."""
    match layer:
        case Embedding(n, width):
            return {"weight": (n, width)}
        case Linear(n_in, n_out):
            return {"weight": (n_in, n_out), "bias": (n_out,)}
        case Conv(n_in, n_out, kernel):
            return {"weight": (n_out, n_in, kernel, kernel), "bias": (n_out,)}
        case LayerNorm(width):
            return {"scale": (width,), "bias": (width,)}
        case Recurrent(_, n_in, n_out):
            columns = layer.cell.gates * n_out
            shapes: dict[str, Shape] = {"weight": (n_in, columns), "recurrent": (n_out, columns)}
            return shapes | {"bias": (columns,)} | dict.fromkeys(layer.cell.extra, (n_out,))
        case _:
            return {}
