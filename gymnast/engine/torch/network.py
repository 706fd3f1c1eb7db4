"""The network for autograd, on the very memory the policy's NumPy side reads."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from gymnast.policy.layers import Activation, Embedding, LayerNorm, Linear, Network, Stack
from gymnast.policy.parameters import Parameters, aligned_zeros


class TorchNetwork:
    def __init__(self, network: Network, parameters: Parameters) -> None:
        self.network = network
        self.gradient = aligned_zeros(parameters.flat.size)
        """Laid out like the parameters; backward adds into it."""
        self.tensors: dict[str, Tensor] = {}
        slots = parameters.views_of(self.gradient)
        for name, view in parameters.views.items():
            tensor = torch.from_numpy(view).requires_grad_()
            tensor.grad = torch.from_numpy(slots[name])
            self.tensors[name] = tensor

    def __call__(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """The actor's last layer [B, k] and the critic's output [B]."""
        hidden = self._run("shared", self.network.shared, features)
        actor = self._run("actor", self.network.actor, hidden)
        return actor, self._run("critic", self.network.critic, hidden).squeeze(-1)

    def _run(self, part: str, stack: Stack, x: Tensor) -> Tensor:
        for i, layer in enumerate(stack):
            name = f"{part}.{i}"
            match layer:
                case Linear():
                    x = torch.addmm(self.tensors[f"{name}.bias"], x, self.tensors[f"{name}.weight"])
                case Activation("tanh"):
                    x = torch.tanh(x)
                case Activation("relu"):
                    x = torch.relu(x)
                case LayerNorm(width):
                    scale, bias = self.tensors[f"{name}.scale"], self.tensors[f"{name}.bias"]
                    x = functional.layer_norm(x, (width,), scale, bias)
                case Embedding():
                    x = functional.embedding(x, self.tensors[f"{name}.weight"])
        return x
