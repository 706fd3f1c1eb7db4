"""Translates a network description for the compiled kernels: layers with offsets into the flat vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gymnast.compiled import kernels
from gymnast.policy.actions import Composite, Head
from gymnast.policy.continuous import QUADRATURE_NODES, QUADRATURE_WEIGHTS
from gymnast.policy.layers import (
    Activation,
    Conv,
    Embedding,
    Layer,
    LayerNorm,
    Linear,
    MaxPool,
    Network,
    Parallel,
    Pixels,
    Recurrent,
    Residual,
    Stack,
)
from gymnast.policy.parameters import Parameters

Array = np.ndarray
NONE = -1
"""Offset of a parameter that does not exist."""
MAX_LAYERS, MAX_PIECES, MAX_CHANNELS, MAX_RECURRENT = 32, 256, 256, 8
"""Sizes of the kernels' fixed arrays, as in native/network.hpp."""


def unsupported_reason(network: Network) -> str | None:
    """Returns why the kernels cannot run this network; None if they can."""
    if network.module is not None:
        return "policy.module is a torch module"
    for _, layer in network.layers():
        match layer:
            case MaxPool() | Residual():
                return "layers of policy.cnn=impala are computed by torch"
            case Pixels(precision="bfloat16"):
                return "policy.precision=bfloat16 is computed by torch"
            case Pixels(planes=(n, _, _)) if n > MAX_CHANNELS:
                return f"images have more than {MAX_CHANNELS} channels"
            case Parallel(branches=branches) if any(_images(stack) for _, stack in branches):
                return "images together with other observations are computed by torch"
            case _:
                pass
    layers = max(sum(isinstance(x, Linear) for x in stack) for _, stack in network.stacks())
    pieces = max(
        sum(entry.count if entry.embeds else 1 for entry in _entries(part, stack, network))
        for part, stack in network.stacks()
    )
    if layers > MAX_LAYERS or pieces > MAX_PIECES:
        return f"it has more than {MAX_LAYERS} layers or {MAX_PIECES} inputs"
    if any(sum(isinstance(x, Recurrent) for x in s) > MAX_RECURRENT for _, s in network.stacks()):
        return f"it has more than {MAX_RECURRENT} recurrent layers in a row"
    return None


def _images(stack: Stack) -> bool:
    return bool(stack) and isinstance(stack[0], Pixels)


def max_layer_width(network: Network) -> int:
    """Returns the width of the widest linear or recurrent layer."""
    widths = (x.n_out for _, x in network.layers() if isinstance(x, Linear | Recurrent))
    return max(widths, default=0)


def native_plan(network: Network, parameters: Parameters, head: Head) -> Any:
    """Returns the kernels' description of a network with these parameters and this action head."""
    native: Any = kernels()
    plan = native.Network(parameters.flat.size)
    for part, stack in network.stacks():
        planner = _Planner(plan, parameters, part)
        planner.encoder(_entries(part, stack, network))
        layers = list(enumerate(stack))
        if _images(stack):
            layers = planner.convolutions(layers)
        # Encoders are described by the pieces, and Flatten has nothing to do: the encoded row is flat.
        rest: list[tuple[int, Layer]] = [(i, x) for i, x in layers if isinstance(x, _COMPUTED)]
        while rest:
            add = planner.recurrent if isinstance(rest[0][1], Recurrent) else planner.dense
            rest = add(rest)
    _head(plan, parameters, head)
    return plan


_COMPUTED = Linear | LayerNorm | Activation | Recurrent


@dataclass(frozen=True)
class _Entry:
    """One input of a stack in each row of features: category indices to embed, or floats."""

    name: str
    layer: Layer
    at: int
    """Offset from the start of the row, in bytes."""
    count: int
    """Number of indices or floats."""

    @property
    def embeds(self) -> bool:
        return isinstance(self.layer, Embedding)


def _entries(part: str, stack: Stack, network: Network) -> Iterator[_Entry]:
    """Yields the inputs of a stack; none if it reads the output of the shared stack."""
    if not stack or _images(stack) or (network.shared and part != "shared"):
        return
    first, name = stack[0], f"{part}.0"
    if isinstance(first, Parallel):
        for key, branch in first.branches:
            kind, at = first.dtype.fields[key][:2]  # type: ignore[index]
            size = 8 if isinstance(branch[0], Embedding) else 4  # bytes of an int64 or a float32
            yield _Entry(f"{name}.{key}.0", branch[0], at, kind.itemsize // size)
        return
    # a shared stack may be an encoder alone: then the actor's first layer has the width
    reader = next(x for x in (*stack, *network.actor) if isinstance(x, Linear | Recurrent))
    width = first.width if isinstance(first, Embedding) else 1
    yield _Entry(name, first, 0, reader.n_in // width)


class _Planner:
    """Adds the layers of one stack (`part`) to the kernels' description of a network."""

    def __init__(self, plan: Any, parameters: Parameters, part: str) -> None:
        self.plan, self.parameters, self.part = plan, parameters, part

    def encoder(self, entries: Iterator[_Entry]) -> None:
        """Adds the inputs of the stack. The kernels concatenate them to one encoded row."""
        for entry in entries:
            if not isinstance(entry.layer, Embedding):
                self.plan.piece(self.part, at=entry.at, width=entry.count, table=NONE)
                continue
            table = self.parameters.slice_of(f"{entry.name}.weight").start
            # one piece per index; `MultiDiscreteObs.embedding_rows` made all indices rows of one table
            for k in range(entry.count):
                self.plan.piece(self.part, entry.at + 8 * k, entry.layer.width, table)

    def convolutions(self, layers: list[tuple[int, Layer]]) -> list[tuple[int, Layer]]:
        """Adds the pixel layer and all convolutions with their activations; returns the other layers."""
        pixels = layers.pop(0)[1]
        assert isinstance(pixels, Pixels)
        channels, height, width = pixels.planes
        first = pixels.channels == "first"
        self.plan.image(self.part, channels, height, width, planes_first=first, top=pixels.top)
        while isinstance(conv := layers[0][1], Conv):
            assert not conv.padding  # only Impala pads, which `unsupported_reason` rejects
            i = layers.pop(0)[0]
            self.plan.conv(
                self.part,
                n_out=conv.n_out,
                kernel=conv.kernel,
                stride=conv.stride,
                weight=self.offset(i, "weight"),
                bias=self.offset(i, "bias"),
                activation=_activation(layers),
            )
        return layers

    def dense(self, layers: list[tuple[int, Layer]]) -> list[tuple[int, Layer]]:
        """Adds a linear layer with its layer norm and activation; returns the layers after it."""
        i, linear = layers.pop(0)
        assert isinstance(linear, Linear)
        scale = bias = NONE
        if layers and isinstance(layers[0][1], LayerNorm):
            at = layers.pop(0)[0]
            scale, bias = self.offset(at, "scale"), self.offset(at, "bias")
        kind = _activation(layers)
        self.plan.dense(
            self.part,
            n_in=linear.n_in,
            n_out=linear.n_out,
            weight=self.offset(i, "weight"),
            bias=self.offset(i, "bias"),
            norm_scale=scale,
            norm_bias=bias,
            activation=kind,
        )
        return layers

    def recurrent(self, layers: list[tuple[int, Layer]]) -> list[tuple[int, Layer]]:
        """Adds a recurrent layer; returns the layers after it."""
        i, layer = layers.pop(0)
        assert isinstance(layer, Recurrent)
        extra = dict.fromkeys(("recurrent_bias",), NONE)
        extra |= {key: self.offset(i, key) for key in layer.cell.extra}
        self.plan.recurrent(
            self.part,
            kind=layer.kind,
            n_in=layer.n_in,
            n_out=layer.n_out,
            weight=self.offset(i, "weight"),
            recurrent=self.offset(i, "recurrent"),
            bias=self.offset(i, "bias"),
            **extra,
        )
        return layers

    def offset(self, layer: int, key: str) -> int:
        """Returns where a parameter of a layer starts in the flat vector."""
        return self.parameters.slice_of(f"{self.part}.{layer}.{key}").start


def _activation(layers: list[tuple[int, Layer]]) -> str:
    """Removes the next layer and returns its kind if it is an activation; otherwise returns "none"."""
    if layers and isinstance(activation := layers[0][1], Activation):
        layers.pop(0)
        return activation.kind
    return "none"


def _head(plan: Any, parameters: Parameters, head: Head) -> None:
    """Adds the action head to the kernels' description of a network."""
    extra = parameters.slice_of("actor.log_std").start if head.extra_parameters else NONE
    plan.head(**_described(head, extra))
    if isinstance(head, Composite):
        for part in head.parts:
            own = extra + part.extra.start if part.head.extra_parameters else NONE
            plan.part(**_described(part.head, own))


def _described(head: Head, log_std: int) -> dict[str, Any]:
    """Returns the arguments that describe a head to the kernels. `log_std`: where its parameter starts in the
    flat vector, or NONE."""
    squashed = head.family == "squashed"
    return {
        "kind": head.family,
        "n_outputs": head.n_outputs,
        # to the kernels, a Categorical is a MultiCategorical with one element
        "groups": list(head.space.options) if head.family == "categorical" else [],
        "log_std": log_std,
        "nodes": QUADRATURE_NODES.tolist() if squashed else [],
        "node_weights": QUADRATURE_WEIGHTS.tolist() if squashed else [],
    }


def kernel_actions(head: Head, action: Array) -> tuple[Array | None, Array | None]:
    """Returns the options and the continuous numbers of stored actions [B, ...], as the kernels take them.
    Those of Tuple and Dict actions have the columns of the action in both."""
    if not isinstance(head, Composite):
        return (None, action) if head.space.has_continuous else (action, None)
    return np.where(head.space.is_continuous, 0, action).astype(np.int64), action
