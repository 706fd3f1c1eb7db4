"""Forward passes of a network in NumPy: collection, evaluation and play need no torch, except for
layers that only torch has and a user's own module."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from gymnast.compiled import kernels
from gymnast.images import planes
from gymnast.policy.actions import AnyHead
from gymnast.policy.activations import ACTIVATIONS
from gymnast.policy.health import Health, Heard
from gymnast.policy.layers import (
    Activation,
    Conv,
    Embedding,
    Flatten,
    LayerNorm,
    Linear,
    Network,
    Parallel,
    Pixels,
    Stack,
)
from gymnast.policy.parameters import Parameters

Array = np.ndarray
ActInto = Callable[[Array, Array, Array | None, Array, Array, Array, Array | None], None]
"""Features, noise, mask -> action, dist, logprob and, where it is wanted, value, written in place."""
ToldHealth = Callable[[Array, Array | None], Health]
"""Features, mask -> how the network is."""


class Inference(Protocol):
    @property
    def act_into(self) -> ActInto | None:
        """All of acting in one call, where there is one."""
        ...

    @property
    def both(self) -> Callable[[Array], tuple[Array, Array]] | None:
        """Actor and critic at once, where there is such a call."""
        ...

    @property
    def values_while_acting(self) -> bool:
        """Whether V is best told when acting: actor and critic share an encoder that is dear."""
        ...

    @property
    def health(self) -> ToldHealth | None:
        """How the network is on features [B, ...] in one call, where there is one."""
        ...

    def actor(self, features: Array) -> Array:
        """What the last actor layer says, [B, k]."""
        ...

    def critic(self, features: Array) -> Array:
        """[B]"""
        ...

    def layer(self, part: str, i: int, features: Array) -> Array:
        """What layer i of a stack says, [B, ...]."""
        ...

    def activations(self, features: Array) -> tuple[list[Heard], Array]:
        """Every activation of a network of ours, and what the last actor layer says, [B, k]."""
        ...


class NumpyInference:
    act_into = both = health = None
    values_while_acting = False

    def __init__(self, network: Network, weights: Mapping[str, Array]) -> None:
        self.network, self.weights = network, weights

    def actor(self, features: Array) -> Array:
        hidden = _run("shared", self.network.shared, self.weights, features)
        return _run("actor", self.network.actor, self.weights, hidden)

    def critic(self, features: Array) -> Array:
        hidden = _run("shared", self.network.shared, self.weights, features)
        return _run("critic", self.network.critic, self.weights, hidden)[:, 0]

    def layer(self, part: str, i: int, features: Array) -> Array:
        upto = getattr(self.network, part)[: i + 1]
        if part != "shared":
            features = _run("shared", self.network.shared, self.weights, features)
        return _run(part, upto, self.weights, features)

    def activations(self, features: Array) -> tuple[list[Heard], Array]:
        heard: dict[str, list[tuple[str, Array]]] = {"shared": [], "actor": [], "critic": []}
        hidden = _run("shared", self.network.shared, self.weights, features, heard["shared"])
        said = _run("actor", self.network.actor, self.weights, hidden, heard["actor"])
        _run("critic", self.network.critic, self.weights, hidden, heard["critic"])
        return [(part, *one) for part, ones in heard.items() for one in ones], said


def inference_for(
    network: Network, parameters: Parameters, head: AnyHead, engine: str
) -> Inference:
    """On the memory of these parameters, as they are whenever it is asked. A policy of the native
    engine acts without it where it is not built: by NumPy, or by torch where NumPy is slow."""
    if engine == "native" and kernels() is not None:
        native = importlib.import_module("gymnast.engine.native.inference")
        return native.NativeInference(network, parameters, head)
    if not network.is_expensive:
        return NumpyInference(network, parameters.views)
    torch = importlib.import_module("gymnast.engine.torch.inference")  # only where it is needed
    return torch.TorchInference(network, parameters)


def _run(
    part: str,
    stack: Stack,
    weights: Mapping[str, Array],
    x: Array,
    heard: list[tuple[str, Array]] | None = None,
) -> Array:
    """The stack on features [B, ...]; kind and outputs of its activations are added to `heard`."""
    for i, layer in enumerate(stack):
        name = f"{part}.{i}"
        match layer:
            case Linear():
                x = x @ weights[f"{name}.weight"]
                x += weights[f"{name}.bias"]
            case Activation(kind):
                x = ACTIVATIONS[kind](x)
            case LayerNorm():
                x = layer_norm(x, weights[f"{name}.scale"], weights[f"{name}.bias"])
            case Embedding():
                x = weights[f"{name}.weight"][x]
            case Flatten():
                x = x.reshape(len(x), -1)
            case Pixels():
                x = pixels(layer, x)
            case Conv():
                x = convolve(layer, x, weights[f"{name}.weight"], weights[f"{name}.bias"])
            case Parallel(dtype, branches):
                rows = np.ascontiguousarray(x).view(dtype)[:, 0]
                parts = (_run(f"{name}.{key}", s, weights, rows[key], heard) for key, s in branches)
                x = np.concatenate(list(parts), -1)
            case _:
                raise TypeError(f"{type(layer).__name__} runs in the torch engine only")
        if heard is not None and isinstance(layer, Activation):
            heard.append((layer.kind, x))
    return x


def pixels(layer: Pixels, x: Array) -> Array:
    """[B, *shape] bytes -> [B, channels, height, width] in 0..1."""
    x = x[:, None] if len(layer.shape) == 2 else planes(x, layer.channels)
    return np.ascontiguousarray(x, dtype=np.float32) / np.float32(layer.top)


def convolve(layer: Conv, x: Array, weight: Array, bias: Array) -> Array:
    """[B, channels, height, width] -> [B, n_out, ...]: a product with what each pixel's kernel sees."""
    if layer.padding:
        x = np.pad(x, ((0, 0), (0, 0), *[(layer.padding, layer.padding)] * 2))
    k, s = layer.kernel, layer.stride
    seen = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))[:, :, ::s, ::s]
    found = np.tensordot(seen, weight, ((1, 4, 5), (1, 2, 3))) + bias
    return np.ascontiguousarray(np.moveaxis(found, -1, 1))


def layer_norm(x: Array, scale: Array, bias: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * scale + bias
