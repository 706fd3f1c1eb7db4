"""The network for autograd. Its tensors share memory with the policy's NumPy parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.torch.custom_module import CustomModule
from gymnast.engine.torch.layers import run_stack
from gymnast.engine.torch.memory import keep_freed_memory
from gymnast.engine.torch.recurrent import SequenceMemory, SequenceTensors
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters, aligned_zeros

Tensors = Mapping[str, Tensor]


class Forward:
    """The forward pass of a network, as a function of its parameters and the features."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.custom_module = None if network.module is None else CustomModule(network.module)

    def __call__(
        self, tensors: Tensors, features: Tensor, memory: SequenceMemory | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the outputs of the actor [B, k] and of the critic [B]. `tensors`: parameters by name;
        `features`: [B, ...]; `memory`: the states of the sequences that the rows form, None without memory.

        Without a critic, the outputs of the actor are Q-values, and the value is the highest one.
        """
        if self.custom_module is not None:
            return self.custom_module(tensors, features)
        hidden = run_stack("shared", self.network.shared, tensors, features, memory=memory)
        actor = run_stack("actor", self.network.actor, tensors, hidden, memory=memory)
        if not self.network.critic:
            return actor, actor.amax(-1)
        value = run_stack("critic", self.network.critic, tensors, hidden, memory=memory)
        return actor, value.squeeze(-1)


class TorchNetwork:
    """A network whose parameters and gradients are tensors on the memory of flat NumPy vectors."""

    def __init__(self, network: Network, parameters: Parameters) -> None:
        """Computes on the device of the parameters; inputs, outputs and the gradient are on the CPU."""
        self.forward, self.parameters = Forward(network), parameters
        if network.is_expensive:
            keep_freed_memory()
        self.device = parameters.device
        self.gradient = aligned_zeros(parameters.flat.size)
        """Flat gradient, laid out like the parameters; `backward` accumulates into it."""
        slots = parameters.views_of(self.gradient)
        self.tensors = {name: _leaf(view, slots[name]) for name, view in parameters.views.items()}
        self._flat = _leaf(parameters.flat, self.gradient)

    def __call__(
        self, features: Tensor, sequences: SequenceTensors | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the outputs of the actor [B, k] and of the critic [B] for features [B, ...], both on the
        CPU. With memory, the rows are the steps of `sequences` in time-major order."""
        if self.device == "cpu":
            return self.forward(self.tensors, features, self._memory(sequences))
        # The parameters are copied to the device in every forward pass, and autograd copies the
        # gradient back. So there is no second set of weights that could become stale.
        on_device = self._flat.to(self.device)
        parameters = self.parameters
        tensors = {
            name: on_device[parameters.slice_of(name)].view(shape)
            for name, shape in parameters.shapes.items()
        }
        if sequences is not None:
            sequences = SequenceTensors(*(x.to(self.device) for x in sequences))
        output, value = self.forward(tensors, features.to(self.device), self._memory(sequences))
        return output.to("cpu"), value.to("cpu")

    def _memory(self, sequences: SequenceTensors | None) -> SequenceMemory | None:
        return None if sequences is None else SequenceMemory(self.forward.network, *sequences)

    def differentiate(self, loss: Tensor) -> None:
        """Replaces the contents of `gradient` by the gradient of the loss."""
        torch.from_numpy(self.gradient).zero_()  # in place: the tensors' .grad are views of it
        loss.backward()


def _leaf(values: np.ndarray, gradient: np.ndarray) -> Tensor:
    """Returns a leaf tensor on the memory of `values` whose gradient is accumulated into `gradient`."""
    tensor = torch.from_numpy(values).requires_grad_()
    tensor.grad = torch.from_numpy(gradient)
    return tensor
