"""Forward passes of networks that NumPy is too slow for or cannot run: images and user modules."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.torch import shares
from gymnast.engine.torch.layers import run_stack
from gymnast.engine.torch.network import Forward
from gymnast.policy.health import LayerActivations
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters

Array = np.ndarray
MAX_IMAGES = 128
"""Largest number of images per forward pass. The activations of this many fit into the CPU caches, and
their memory is reused instead of being allocated again for every rollout."""


class TorchInference:
    """Implements `Inference` with torch, on the memory of the policy's parameters."""

    act_into = health = None
    values_while_acting = True

    def __init__(self, network: Network, parameters: Parameters) -> None:
        self.forward = Forward(network)
        self.tensors = {n: torch.from_numpy(view) for n, view in parameters.views.items()}

    def actor(self, features: Array) -> Array:
        return self._output(features, "actor")

    def critic(self, features: Array) -> Array:
        return self._output(features, "critic")

    def actor_and_critic(self, features: Array) -> tuple[Array, Array]:
        """Returns the outputs of actor [B, k] and critic [B]. The shared encoder runs only once."""
        output, value = self._in_parts(lambda rows: self.forward(self.tensors, rows), features)
        return output, value

    @torch.no_grad()
    def layer_output(self, part: str, i: int, features: Array) -> Array:
        return self._layer(part, i, torch.from_numpy(features)).numpy()

    @torch.no_grad()
    def activations(self, features: Array) -> tuple[list[LayerActivations], Array]:
        """Returns the outputs of every activation layer (none of a user module), and the actor's outputs."""
        if self.forward.custom_module is not None:
            return [], self.actor(features)
        network, tensors = self.forward.network, self.tensors
        stacks: dict[str, list[tuple[str, Tensor]]] = {"shared": [], "actor": [], "critic": []}
        hidden = run_stack(
            "shared", network.shared, tensors, torch.from_numpy(features), stacks["shared"]
        )
        output = run_stack("actor", network.actor, tensors, hidden, stacks["actor"])
        run_stack("critic", network.critic, tensors, hidden, stacks["critic"])
        layers = [(part, *layer) for part, stack in stacks.items() for layer in stack]
        # NumPy has no bfloat16, hence float()
        return [(part, kind, x.float().numpy()) for part, kind, x in layers], output.numpy()

    def _output(self, features: Array, part: str) -> Array:
        """Returns the outputs of the last layer of `part`: the actor's [B, k] or the critic's [B]."""
        if self.forward.custom_module is not None:
            return self.actor_and_critic(features)[part == "critic"]
        last = len(getattr(self.forward.network, part)) - 1
        (output,) = self._in_parts(lambda rows: (self._layer(part, last, rows),), features)
        return output if part == "actor" else output[:, 0]

    def _in_parts(
        self, compute: Callable[[Tensor], tuple[Tensor, ...]], features: Array
    ) -> list[Array]:
        """Returns the outputs of `compute` for all rows.

        Bytes (images) are computed in parts of MAX_IMAGES rows, divided among the threads; any
        other features in one call.
        """
        rows = torch.from_numpy(features)
        parts = rows.split(MAX_IMAGES) if rows.dtype == torch.uint8 else (rows,)

        def compute_share(span: slice) -> list[tuple[Tensor, ...]]:
            with torch.no_grad():  # no_grad applies per thread, so it belongs in here
                return [compute(part) for part in parts[span]]

        # a user module need not be thread-safe
        spans = (
            [slice(None)]
            if self.forward.custom_module is not None
            else shares.split_rows(len(parts))
        )
        outputs = chain.from_iterable(shares.run_parallel(compute_share, spans))
        return [torch.cat(column).numpy() for column in zip(*outputs, strict=True)]

    def _layer(self, part: str, i: int, x: Tensor) -> Tensor:
        """Returns the output of layer i of a stack for features x [B, ...]."""
        network = self.forward.network
        if part != "shared":
            x = run_stack("shared", network.shared, self.tensors, x)
        return run_stack(part, getattr(network, part)[: i + 1], self.tensors, x)
