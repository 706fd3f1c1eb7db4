"""The network for autograd, on the very memory the policy's NumPy side reads."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from gymnast.engine.torch.layers import run
from gymnast.engine.torch.memory import keep_freed_memory
from gymnast.engine.torch.own_module import Own
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters, aligned_zeros

Tensors = Mapping[str, Tensor]


class Forward:
    """What a network makes of features, with whatever tensors stand for its parameters."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.own = None if network.module is None else Own(network.module)

    def __call__(self, tensors: Tensors, features: Tensor) -> tuple[Tensor, Tensor]:
        """The actor's last layer [B, k] and the critic's output [B]; without a critic, the highest
        of the action values."""
        if self.own is not None:
            return self.own(tensors, features)
        hidden = run("shared", self.network.shared, tensors, features)
        actor = run("actor", self.network.actor, tensors, hidden)
        if not self.network.critic:
            return actor, actor.amax(-1)
        return actor, run("critic", self.network.critic, tensors, hidden).squeeze(-1)


class TorchNetwork:
    def __init__(self, network: Network, parameters: Parameters) -> None:
        """Computes on the parameters' device; what goes in and comes out stays on the CPU."""
        self.forward, self.parameters = Forward(network), parameters
        if network.is_expensive:
            keep_freed_memory()
        self.device = parameters.device
        self.gradient = aligned_zeros(parameters.flat.size)
        """Laid out like the parameters; backward adds into it."""
        slots = parameters.views_of(self.gradient)
        self.tensors = {name: _leaf(view, slots[name]) for name, view in parameters.views.items()}
        self._flat = _leaf(parameters.flat, self.gradient)

    def __call__(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """The actor's last layer [B, k] and the critic's output [B]."""
        if self.device == "cpu":
            return self.forward(self.tensors, features)
        # one copy there and, through backward, one copy back: no second set of weights to go stale
        there = self._flat.to(self.device)
        spans = self.parameters
        tensors = {n: there[spans.span(n)].view(s) for n, s in spans.shapes.items()}
        output, value = self.forward(tensors, features.to(self.device))
        return output.to("cpu"), value.to("cpu")

    def differentiate(self, loss: Tensor) -> None:
        """Its gradient, and nothing else, is in `gradient` then."""
        torch.from_numpy(self.gradient).zero_()
        loss.backward()


def _leaf(values, gradient) -> Tensor:
    tensor = torch.from_numpy(values).requires_grad_()
    tensor.grad = torch.from_numpy(gradient)
    return tensor
