"""A torch module of the user as the network of a policy (`policy.module`).

`Net(observation, n_outputs, **policy.module_kwargs)` is called with the observation space as
`gymnast.spaces.observations` describes it; `forward(x)` returns the outputs [B, n_outputs] and the
value [B]. x is a float tensor [B, size] for Box, int64 [B] or [B, k] for Discrete and MultiDiscrete, a
float image [B, channels, height, width] in 0..1. For Dict and Tuple it is a dict by entry name, in which
Box and MultiDiscrete entries keep the shape of their space.

Its parameters are stored in the policy's flat vector, so it may have no other state, such as buffers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from gymnast.engine.torch.layers import pixels_to_float, record_field
from gymnast.errors import CodeNotAllowed, ConfigError
from gymnast.import_object import import_user_code
from gymnast.policy.features import Features
from gymnast.policy.layers import CustomModuleSpec, Pixels, Shape
from gymnast.spaces.observations import CompositeObs, ImageObs, blank_obs

PREFIX = "module."
"""Prefix of the names of its parameters."""
Input = Tensor | dict[str, Tensor]


class CustomModule:
    """The module, called with the parameters of the policy instead of its own."""

    def __init__(self, spec: CustomModuleSpec) -> None:
        self.spec, self.module = spec, build(spec)
        self._names = {name: f"{PREFIX}{name}" for name, _ in self.module.named_parameters()}

    def __call__(self, tensors: Mapping[str, Tensor], features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the module's outputs [B, n_outputs] and values [B]. `tensors`: the policy's parameters by
        name; `features`: those of `Policy.features`, [B, ...]."""
        parameters = {name: tensors[ours] for name, ours in self._names.items()}
        return functional_call(
            self.module, parameters, (module_inputs(self.spec.observation, features),)
        )


def parameter_shapes(spec: CustomModuleSpec) -> dict[str, Shape]:
    """Returns the shape of every parameter by name."""
    return {f"{PREFIX}{n}": tuple(p.shape) for n, p in build(spec).named_parameters()}


def initial_parameters(spec: CustomModuleSpec, seed: int) -> dict[str, np.ndarray]:
    """Returns the weights that the module initializes itself with under this torch seed."""
    named = build(spec, seed).named_parameters()
    return {f"{PREFIX}{name}": parameter.detach().numpy() for name, parameter in named}


def module_inputs(observation: Any, features: Tensor) -> Input:
    """Returns the argument of the module's `forward` for the features that `Policy.features` returns."""
    if isinstance(observation, CompositeObs):
        dtype = observation.dtype
        named = observation.leaves.items()
        return {name: _input(leaf, record_field(dtype, name, features)) for name, leaf in named}
    return _input(observation, features)


def build(spec: CustomModuleSpec, seed: int = 0) -> nn.Module:
    """Returns the module, after a trial forward pass. Raises ConfigError if it cannot be used.

    It is always in eval mode: with dropout, an update would compute the log-probabilities of another
    policy than the one that collected the rollout.
    """
    module_class = _find(spec.path)
    try:
        # The module draws its initial weights from torch's global generator, which is restored after.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = module_class(spec.observation, spec.n_outputs, **spec.kwargs)
    except Exception as problem:  # the user's code may raise anything
        raise _refusal(
            spec, f"cannot be constructed: {type(problem).__name__}: {problem}"
        ) from problem
    if not isinstance(module, nn.Module):
        raise _refusal(spec, f"returns a {type(module).__name__}, not a torch.nn.Module")
    _refuse_state(spec, module)
    _try(spec, module.eval())
    return module


def _find(path: str) -> Any:
    """Returns the class at an import path, `package.module:Class`. Raises ConfigError if there is none."""
    try:
        return import_user_code(path)
    except CodeNotAllowed:
        raise
    except Exception as problem:  # the user's code may raise anything
        what = f"policy.module: {path} cannot be imported: {type(problem).__name__}: {problem}"
        raise ConfigError(what) from problem


def _refuse_state(spec: CustomModuleSpec, module: nn.Module) -> None:
    """Raises ConfigError if the state of the module is not a set of float32 parameters."""
    # Only parameters are in the flat vector that checkpoints, snapshots and other processes copy.
    buffers = [name for name, _ in module.named_buffers()]
    if buffers:
        what = f"has a buffer ({buffers[0]}), which would not be saved"
        raise _refusal(spec, what, fix="use LayerNorm or GroupNorm instead of BatchNorm")
    named = dict(module.named_parameters())
    if not named:
        raise _refusal(spec, "has no parameters")
    for name, parameter in named.items():
        if parameter.dtype != torch.float32:
            raise _refusal(spec, f"has a parameter of {parameter.dtype} ({name}), not float32")


def _try(spec: CustomModuleSpec, module: nn.Module, n: int = 3) -> None:
    """Raises ConfigError if `forward` fails or returns other shapes than expected for n observations."""
    features = Features(spec.observation, None)(blank_obs(spec.observation, n))
    try:
        with torch.no_grad():
            outputs = module(module_inputs(spec.observation, torch.from_numpy(features)))
    except Exception as problem:
        what = f"forward raised {type(problem).__name__}: {problem}"
        raise _refusal(spec, what) from problem
    actual = [tuple(x.shape) for x in outputs] if _is_pair(outputs) else type(outputs).__name__
    expected = [(n, spec.n_outputs), (n,)]
    if actual != expected:
        raise _refusal(
            spec,
            f"forward returned {actual} for {n} observations",
            fix=f"return outputs and values of shapes {expected[0]} and {expected[1]}",
        )


def _is_pair(outputs: Any) -> bool:
    """Returns whether the outputs are two tensors."""
    return (
        isinstance(outputs, tuple | list)
        and len(outputs) == 2
        and all(isinstance(x, Tensor) for x in outputs)
    )


def _input(leaf: Any, x: Tensor) -> Tensor:
    """Returns features of one space [B, ...] as the module receives them: images as floats in 0..1."""
    if isinstance(leaf, ImageObs):
        assert leaf.channels != "unknown"
        return pixels_to_float(Pixels(leaf.shape, leaf.channels, leaf.top), x)
    return x


def _refusal(spec: CustomModuleSpec, what: str, fix: str = "see docs/spaces.md") -> ConfigError:
    """Returns the error that names the module. `what`: the rest of the sentence."""
    return ConfigError(f"policy.module: {spec.path} {what}", fix=fix)
