"""Forward passes of a network in NumPy, so that collection, evaluation and play need no torch.

Only image networks without compiled kernels and modules of the user are run by torch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from gymnast.compiled import kernels
from gymnast.images import as_planes
from gymnast.policy.activations import ACTIVATIONS
from gymnast.policy.head import Head
from gymnast.policy.health import Health, LayerActivations
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
    Recurrent,
    Stack,
)
from gymnast.policy.parameters import Parameters

Array = np.ndarray
ActIntoWithState = Callable[[Array, Array, Array | None, Array, Array, Array, Array, Array], None]
"""A function of features, noise, mask and state [B, S] that writes action, dist, logprob and value, and
replaces the state by the one after the step."""
ActInto = Callable[[Array, Array, Array | None, Array, Array, Array, Array | None], None]
"""A function of features, noise and mask that writes action, dist, logprob and, if not None, value."""
HealthFunction = Callable[[Array, Array | None, Array | None], Health]
"""A function of features, mask and state (None without memory) that returns the health of the network."""


class Inference(Protocol):
    """Forward passes with the current parameters of a policy, for features [B, ...].

    Optional functions are None if the implementation does not have them.
    """

    @property
    def act_into(self) -> ActInto | None:
        """Optional function that does everything `Policy.act_into` needs in one call."""
        ...

    @property
    def act_into_with_state(self) -> ActIntoWithState | None:
        """Optional function that does the same for a network with memory."""
        ...

    @property
    def actor_and_critic(self) -> Callable[[Array], tuple[Array, Array]] | None:
        """Optional function that returns the outputs of actor and critic from one forward pass."""
        ...

    @property
    def values_while_acting(self) -> bool:
        """Whether values are computed while acting, because actor and critic share an expensive encoder."""
        ...

    @property
    def health(self) -> HealthFunction | None:
        """Optional function that computes the health of the network in one call."""
        ...

    def actor(self, features: Array) -> Array:
        """Returns the outputs of the actor's last layer, [B, k], of a network without memory."""
        ...

    def critic(self, features: Array) -> Array:
        """Returns the outputs of the critic, [B], of a network without memory."""
        ...

    def step(self, features: Array, state: Array) -> tuple[Array, Array, Array]:
        """Returns the outputs of the actor [B, k] and of the critic [B], and the state after the step, [B,
        S]. `state`: the state before it, which is not changed."""
        ...

    def layer_output(self, part: str, i: int, features: Array, state: Array | None = None) -> Array:
        """Returns the output of layer i of a stack (`part`: shared, actor or critic) for features of the
        whole network, [B, ...]. `state`: [B, S], None without memory."""
        ...

    def activations(
        self, features: Array, state: Array | None = None
    ) -> tuple[list[LayerActivations], Array]:
        """Returns the outputs of every activation layer, and of the actor's last layer, [B, k]. `state`: [B,
        S], None without memory."""
        ...


class StepMemory:
    """The states of all recurrent layers during one step: read from `before`, written to `after`."""

    def __init__(self, network: Network, before: Array) -> None:
        self._slices, self._before = network.state_slices, before
        self.after = np.empty_like(before)

    def run(self, name: str, layer: Recurrent, x: Array, weights: Mapping[str, Array]) -> Array:
        """Returns the output [B, n_out] of a recurrent layer for its input x [B, n_in]."""
        part = self._slices[name]
        own = {key: weights[f"{name}.{key}"] for key in ("recurrent", *layer.cell.extra)}
        projection = x @ weights[f"{name}.weight"]
        projection += weights[f"{name}.bias"]
        self.after[:, part] = layer.cell.step(projection, self._before[:, part], own)
        return self.after[:, part][:, : layer.n_out]


class NumpyInference:
    """Implements `Inference` with NumPy."""

    act_into = act_into_with_state = actor_and_critic = health = None

    def __init__(self, network: Network, weights: Mapping[str, Array]) -> None:
        self.network, self.weights = network, weights
        # With memory, a value depends on the state, which is at hand only while acting.
        self.values_while_acting = bool(network.state_size)

    def actor(self, features: Array) -> Array:
        hidden = _run("shared", self.network.shared, self.weights, features)
        return _run("actor", self.network.actor, self.weights, hidden)

    def critic(self, features: Array) -> Array:
        hidden = _run("shared", self.network.shared, self.weights, features)
        return _run("critic", self.network.critic, self.weights, hidden)[:, 0]

    def step(self, features: Array, state: Array) -> tuple[Array, Array, Array]:
        network, weights, memory = self.network, self.weights, StepMemory(self.network, state)
        hidden = _run("shared", network.shared, weights, features, memory=memory)
        output = _run("actor", network.actor, weights, hidden, memory=memory)
        value = _run("critic", network.critic, weights, hidden, memory=memory)
        return output, value[:, 0], memory.after

    def layer_output(self, part: str, i: int, features: Array, state: Array | None = None) -> Array:
        memory = None if state is None else StepMemory(self.network, state)
        stack = getattr(self.network, part)[: i + 1]
        if part != "shared":
            shared = self.network.shared
            features = _run("shared", shared, self.weights, features, memory=memory)
        return _run(part, stack, self.weights, features, memory=memory)

    def activations(
        self, features: Array, state: Array | None = None
    ) -> tuple[list[LayerActivations], Array]:
        memory = None if state is None else StepMemory(self.network, state)
        stacks: dict[str, list[tuple[str, Array]]] = {"shared": [], "actor": [], "critic": []}

        def run(part: str, stack: Stack, x: Array) -> Array:
            return _run(part, stack, self.weights, x, stacks[part], memory)

        hidden = run("shared", self.network.shared, features)
        output = run("actor", self.network.actor, hidden)
        run("critic", self.network.critic, hidden)
        return [(part, *layer) for part, stack in stacks.items() for layer in stack], output


def inference_for(network: Network, parameters: Parameters, head: Head, engine: str) -> Inference:
    """Returns forward passes on the memory of these parameters, so that updates take effect at once.
    `engine`: native or torch.

    A policy that was trained by the native engine also acts where the kernels are not built: with NumPy, or
    with torch if the network is too expensive for NumPy.
    """
    if engine == "native" and kernels() is not None:
        native = importlib.import_module("gymnast.engine.native.inference")
        return native.NativeInference(network, parameters, head)
    if not network.is_expensive:
        return NumpyInference(network, parameters.views)
    # Imported by name and only here, because importing torch is slow.
    torch_inference = importlib.import_module("gymnast.engine.torch.inference")
    return torch_inference.TorchInference(network, parameters)


def _run(
    part: str,
    stack: Stack,
    weights: Mapping[str, Array],
    x: Array,
    activations: list[tuple[str, Array]] | None = None,
    memory: StepMemory | None = None,
) -> Array:
    """Returns the output of a stack for features [B, ...]. `part` is the prefix of its parameters in
    `weights`.

    The kind and outputs of every activation layer are appended to `activations`. `memory`: the states of
    recurrent layers; a stack without any needs none.
    """
    for i, layer in enumerate(stack):
        name = f"{part}.{i}"
        match layer:
            case Linear():
                x = x @ weights[f"{name}.weight"]  # a new array, which the next lines may overwrite
                x += weights[f"{name}.bias"]
            case Activation(kind):
                x = ACTIVATIONS[kind](x)
            case LayerNorm():
                x = layer_norm(x, weights[f"{name}.scale"], weights[f"{name}.bias"])
            case Recurrent():
                if memory is None:
                    raise ValueError("a network with memory needs the state before the step")
                x = memory.run(name, layer, x, weights)
            case Embedding():
                x = weights[f"{name}.weight"][x]
            case Flatten():
                x = x.reshape(len(x), -1)
            case Pixels():
                x = pixels_to_float(layer, x)
            case Conv():
                x = convolve(layer, x, weights[f"{name}.weight"], weights[f"{name}.bias"])
            case Parallel(dtype, branches):
                rows = np.ascontiguousarray(x).view(dtype)[:, 0]  # bytes [B, size] -> records [B]
                parts = (
                    _run(f"{name}.{key}", s, weights, rows[key], activations) for key, s in branches
                )
                x = np.concatenate(list(parts), -1)
            case _:
                raise TypeError(f"{type(layer).__name__} runs in the torch engine only")
        if activations is not None and isinstance(layer, Activation):
            activations.append((layer.kind, x))
    return x


def pixels_to_float(layer: Pixels, x: Array) -> Array:
    """Returns images of bytes [B, *shape] as floats in 0..1, [B, channels, height, width]."""
    x = x[:, None] if len(layer.shape) == 2 else as_planes(x, layer.channels)
    return np.ascontiguousarray(x, dtype=np.float32) / np.float32(layer.top)


def convolve(layer: Conv, x: Array, weight: Array, bias: Array) -> Array:
    """Returns the convolution, [B, n_out, height out, width out], of x [B, channels, height, width] with
    weight [n_out, channels, k, k] and bias [n_out].

    It is one matrix product of the weights with the window of each output pixel (im2col).
    """
    if layer.padding:
        x = np.pad(x, ((0, 0), (0, 0), *[(layer.padding, layer.padding)] * 2))
    k, s = layer.kernel, layer.stride
    # a view [B, channels, height out, width out, k, k], summed over channels and kernel
    windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))[:, :, ::s, ::s]
    out = np.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3))) + bias
    return np.ascontiguousarray(np.moveaxis(out, -1, 1))


def layer_norm(x: Array, scale: Array, bias: Array) -> Array:
    """Returns the rows of x [..., n] with mean 0 and variance 1, times `scale` plus `bias`."""
    centered = x - x.mean(-1, keepdims=True)
    variance = (centered * centered).mean(-1, keepdims=True)
    return centered / np.sqrt(variance + 1e-5) * scale + bias  # torch's default epsilon
