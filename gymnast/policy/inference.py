"""Forward passes of a network in NumPy: collection, evaluation and play need no torch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gymnast.policy.layers import Activation, Embedding, LayerNorm, Linear, Network, Stack

Array = np.ndarray


def actor_output(network: Network, weights: Mapping[str, Array], features: Array) -> Array:
    """What the last actor layer says, [B, k]."""
    hidden = _run("shared", network.shared, weights, features)
    return _run("actor", network.actor, weights, hidden)


def critic_output(network: Network, weights: Mapping[str, Array], features: Array) -> Array:
    """[B]"""
    hidden = _run("shared", network.shared, weights, features)
    return _run("critic", network.critic, weights, hidden)[:, 0]


def _run(part: str, stack: Stack, weights: Mapping[str, Array], x: Array) -> Array:
    for i, layer in enumerate(stack):
        name = f"{part}.{i}"
        match layer:
            case Linear():
                x = x @ weights[f"{name}.weight"]
                x += weights[f"{name}.bias"]
            case Activation("tanh"):
                np.tanh(x, out=x)
            case Activation("relu"):
                np.maximum(x, 0.0, out=x)
            case LayerNorm():
                x = layer_norm(x, weights[f"{name}.scale"], weights[f"{name}.bias"])
            case Embedding():
                x = weights[f"{name}.weight"][x]
    return x


def layer_norm(x: Array, scale: Array, bias: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * scale + bias
