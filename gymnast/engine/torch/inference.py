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
from gymnast.engine.torch.recurrent import SequenceMemory
from gymnast.policy.health import LayerActivations
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters

Array = np.ndarray
MAX_IMAGES = 128
"""Largest number of images per forward pass. The activations of this many fit into the CPU caches, and
their memory is reused instead of being allocated again for every rollout."""


class TorchInference:
    """Implements `Inference` with torch, on the memory of the policy's parameters."""

    act_into = act_into_with_state = health = None
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
    def step(self, features: Array, state: Array) -> tuple[Array, Array, Array]:
        # Not in parts, as other images are: a step has one row per environment copy.
        memory = self._memory(state)
        assert memory is not None
        output, value = self.forward(self.tensors, torch.from_numpy(features), memory)
        return output.numpy(), value.numpy(), memory.after().numpy()

    @torch.no_grad()
    def layer_output(self, part: str, i: int, features: Array, state: Array | None = None) -> Array:
        return self._layer(part, i, torch.from_numpy(features), self._memory(state)).numpy()

    @torch.no_grad()
    def activations(
        self, features: Array, state: Array | None = None
    ) -> tuple[list[LayerActivations], Array]:
        """Returns the outputs of every activation layer (none of a user module), and the actor's outputs."""
        if self.forward.custom_module is not None:
            return [], self.actor(features)
        network, memory = self.forward.network, self._memory(state)
        stacks: dict[str, list[tuple[str, Tensor]]] = {"shared": [], "actor": [], "critic": []}

        def run(part: str, x: Tensor) -> Tensor:
            return run_stack(part, getattr(network, part), self.tensors, x, stacks[part], memory)

        hidden = run("shared", torch.from_numpy(features))
        output = run("actor", hidden)
        run("critic", hidden)
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

    def _layer(self, part: str, i: int, x: Tensor, memory: SequenceMemory | None = None) -> Tensor:
        """Returns the output of layer i of a stack for features x [B, ...]."""
        network = self.forward.network
        if part != "shared":
            x = run_stack("shared", network.shared, self.tensors, x, memory=memory)
        stack = getattr(network, part)[: i + 1]
        return run_stack(part, stack, self.tensors, x, memory=memory)

    def _memory(self, state: Array | None) -> SequenceMemory | None:
        """Returns the states of a single step, [B, S]; None without memory."""
        if state is None:
            return None
        return SequenceMemory(self.forward.network, torch.from_numpy(state))
