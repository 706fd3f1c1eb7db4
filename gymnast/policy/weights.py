"""The parameter shapes of a network, and its initial weights."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from gymnast.policy.layers import (
    Conv,
    Embedding,
    Linear,
    Network,
    Recurrent,
    Shape,
    extra_parameter_shapes,
    parameter_shapes,
)
from gymnast.policy.parameters import Parameters
from gymnast.seeds import episode_seed, stream


def shapes_of(network: Network) -> dict[str, Shape]:
    """Returns the shape of every parameter by name, in memory order."""
    if network.module is None:
        return parameter_shapes(network)
    return _custom_modules().parameter_shapes(network.module) | extra_parameter_shapes(
        network.extra_parameters
    )


def initialize_weights(network: Network, parameters: Parameters, seed: int, role: str) -> None:
    """Writes the initial weights, each drawn from a stream of the seed, the role and its name.

    A module of the user initializes itself, with a torch seed derived from the seed and the role.
    """
    module_weights: dict[str, Any] = {}
    if network.module is not None:
        module_weights = _custom_modules().initial_parameters(
            network.module, episode_seed(seed, "weights", role, "module")
        )
    for name, view in parameters.views.items():
        if name in module_weights:
            view[...] = module_weights[name]
        else:
            # A stream per parameter: changing one layer leaves the initial weights of the others.
            view[...] = initial_value(
                network, name, view.shape, stream(seed, "weights", role, name)
            )


def initial_value(
    network: Network, name: str, shape: Shape, stream: np.random.Generator
) -> np.ndarray:
    """Returns the initial value of one parameter of this shape, by its name `layer.key`, drawn from `stream`.

    Weights are orthogonal (in a recurrent layer those of each gate), embeddings standard normal, scales 1
    and biases 0, except that of an LSTM's forget gate, 1.
    """
    for key, _, value in network.extra_parameters:
        if name == f"actor.{key}":
            return np.full(shape, value)
    owner, _, key = name.rpartition(".")
    layer = dict(network.layers())[owner]
    if isinstance(layer, Linear) and key == "weight":
        return orthogonal((layer.n_in, layer.n_out), stream) * layer.gain
    if isinstance(layer, Conv) and key == "weight":
        # a matrix with one row per output channel, as in torch.nn.init.orthogonal_
        kernel = orthogonal((shape[0], int(np.prod(shape[1:]))), stream)
        return kernel.reshape(shape) * layer.gain
    if isinstance(layer, Recurrent):
        return _initial_recurrent(layer, key, shape, stream)
    if isinstance(layer, Embedding):
        return stream.standard_normal(shape)
    return np.full(shape, 1.0 if key == "scale" else 0.0)


def _initial_recurrent(
    layer: Recurrent, key: str, shape: Shape, stream: np.random.Generator
) -> np.ndarray:
    """Returns the initial value of the parameter `key` of a recurrent layer."""
    if key in ("weight", "recurrent"):
        blocks = [orthogonal((shape[0], layer.n_out), stream) for _ in range(layer.cell.gates)]
        return np.concatenate(blocks, 1)
    value = np.zeros(shape)
    if key == "bias" and layer.cell.open_gate is not None:
        value[layer.cell.open_gate * layer.n_out :][: layer.n_out] = 1.0
    return value


def orthogonal(shape: tuple[int, int], stream: np.random.Generator) -> np.ndarray:
    """Returns a random matrix with orthonormal rows or columns, whichever are fewer (arXiv:1312.6120)."""
    rows, columns = shape
    gaussian = stream.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(gaussian)
    q = q * np.sign(np.diag(r))  # makes the distribution uniform; LAPACK's signs are not random
    return q if rows >= columns else q.T


def _custom_modules() -> Any:
    """Returns the module that runs torch modules of the user. Imports torch."""
    return importlib.import_module("gymnast.engine.torch.custom_module")
