"""Which parameters a network has, and what they start as."""

from __future__ import annotations

import importlib
from typing import Any

from gymnast.policy.layers import Network, Shape, extra_parameter_shapes, initial, parameter_shapes
from gymnast.policy.parameters import Parameters
from gymnast.seeds import episode_seed, stream


def shapes_of(network: Network) -> dict[str, Shape]:
    """Name -> shape, in the order they lie in memory."""
    if network.module is None:
        return parameter_shapes(network)
    return _own_modules().shapes(network.module) | extra_parameter_shapes(network.extra_parameters)


def draw(network: Network, parameters: Parameters, seed: int, role: str) -> None:
    """Initial weights: a function of the seed, the role and each parameter's name. A user's module
    draws its own, from a seed that is a function of the first two."""
    own: dict[str, Any] = {}
    if network.module is not None:
        own = _own_modules().initial(network.module, episode_seed(seed, "weights", role, "module"))
    for name, view in parameters.views.items():
        if name in own:
            view[...] = own[name]
        else:
            view[...] = initial(network, name, view.shape, stream(seed, "weights", role, name))


def _own_modules() -> Any:
    return importlib.import_module("gymnast.engine.torch.own_module")  # torch, only where needed
