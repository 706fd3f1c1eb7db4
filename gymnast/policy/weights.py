"""The parameter shapes of a network, and its initial weights."""

from __future__ import annotations

import importlib
from typing import Any

from gymnast.policy.layers import (
    Network,
    Shape,
    extra_parameter_shapes,
    initial_value,
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


def _custom_modules() -> Any:
    """Returns the module that runs torch modules of the user. Imports torch."""
    return importlib.import_module("gymnast.engine.torch.custom_module")
