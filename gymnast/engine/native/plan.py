"""From a network as data to the one the compiled kernels run: offsets into the flat vector."""

from __future__ import annotations

from typing import Any

from gymnast.compiled import kernels
from gymnast.policy.actions import (
    AnyHead,
    Bernoulli,
    Categorical,
    MultiCategorical,
    SquashedGaussian,
)
from gymnast.policy.continuous import NODES, WEIGHTS
from gymnast.policy.layers import (
    Activation,
    Embedding,
    Flatten,
    Layer,
    LayerNorm,
    Linear,
    Network,
    Parallel,
    Stack,
)
from gymnast.policy.parameters import Parameters

NONE = -1
"""No such parameter."""
MOST_LAYERS, MOST_PIECES = 32, 256
"""What the kernels have room for, as in native/network.hpp."""


def unable(network: Network) -> str | None:
    """Why the kernels cannot run this network, if they cannot."""
    if network.module is not None:
        return "policy.module is a torch module"
    for _, layer in network.layers():
        if not isinstance(layer, Activation | Embedding | Flatten | LayerNorm | Linear | Parallel):
            return "images need convolutions"
    most = max(len(stack) for _, stack in network.stacks())
    pieces = sum(isinstance(layer, Embedding | Flatten) for _, layer in network.layers())
    if most > MOST_LAYERS or pieces > MOST_PIECES:
        return "the network has too many parts"
    return None


def planned(network: Network, parameters: Parameters, head: AnyHead) -> Any:
    """The kernels' view of a network on these parameters."""
    native: Any = kernels()
    plan = native.Network(parameters.flat.size)
    reading = "shared" if network.shared else None
    for part, stack in network.stacks():
        if stack:
            reads_features = part == reading or reading is None
            _Planner(plan, parameters, part).stack(stack, reads_features)
    _head(plan, parameters, head)
    return plan


class _Planner:
    def __init__(self, plan: Any, parameters: Parameters, part: str) -> None:
        self.plan, self.parameters, self.part = plan, parameters, part

    def stack(self, stack: Stack, reads_features: bool) -> None:
        rest = list(enumerate(stack))
        if reads_features:
            rest = self.encoder(rest)
        while rest:
            rest = self.dense(rest)

    def encoder(self, layers: list[tuple[int, Layer]]) -> list[tuple[int, Layer]]:
        """Take the layers that read features; those that are left."""
        i, first = layers[0]
        name = f"{self.part}.{i}"
        if isinstance(first, Parallel):
            for key, branch in first.branches:
                kind, at = first.dtype.fields[key][:2]  # type: ignore[index]
                count = kind.itemsize // (8 if isinstance(branch[0], Embedding) else 4)
                self.pieces(f"{name}.{key}.0", branch[0], at, count)
            return layers[1:]
        if isinstance(first, Embedding):
            flattened = len(layers) > 1 and isinstance(layers[1][1], Flatten)
            following = layers[2 if flattened else 1 :]
            width = following[0][1].n_in if isinstance(following[0][1], Linear) else first.width
            self.pieces(name, first, 0, width // first.width)
            return following
        assert isinstance(first, Linear)
        self.plan.piece(self.part, at=0, width=first.n_in, table=NONE)
        return layers

    def pieces(self, name: str, layer: Layer, at: int, count: int) -> None:
        """What one entry contributes: `count` indices to embed, or as many floats."""
        if not isinstance(layer, Embedding):
            self.plan.piece(self.part, at=at, width=count, table=NONE)
            return
        table = self.parameters.span(f"{name}.weight").start
        for k in range(count):
            self.plan.piece(self.part, at=at + 8 * k, width=layer.width, table=table)

    def dense(self, layers: list[tuple[int, Layer]]) -> list[tuple[int, Layer]]:
        """Take a linear layer with the norm and the activation behind it; those that are left."""
        i, linear = layers.pop(0)
        assert isinstance(linear, Linear)
        scale = bias = NONE
        if layers and isinstance(layers[0][1], LayerNorm):
            at = layers.pop(0)[0]
            scale, bias = self.offset(at, "scale"), self.offset(at, "bias")
        kind = "none"
        if layers and isinstance(layers[0][1], Activation):
            kind = layers.pop(0)[1].kind  # type: ignore[union-attr]
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

    def offset(self, layer: int, key: str) -> int:
        return self.parameters.span(f"{self.part}.{layer}.{key}").start


def _head(plan: Any, parameters: Parameters, head: AnyHead) -> None:
    groups: list[int] = []
    log_std, nodes, weights = NONE, [], []
    match head:
        case Categorical():
            kind, groups = "categorical", [head.n_outputs]
        case MultiCategorical():
            kind, groups = "categorical", list(head.space.n)
        case Bernoulli():
            kind = "bernoulli"
        case _:
            kind, log_std = "gaussian", parameters.span("actor.log_std").start
            if isinstance(head, SquashedGaussian):
                kind, nodes, weights = "squashed", NODES.tolist(), WEIGHTS.tolist()
    plan.head(
        kind,
        n_outputs=head.n_outputs,
        groups=groups,
        log_std=log_std,
        nodes=nodes,
        node_weights=weights,
    )
