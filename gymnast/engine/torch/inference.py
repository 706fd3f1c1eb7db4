"""Acting with networks that NumPy does not run: images and a user's own module."""

from __future__ import annotations

import numpy as np
import torch

from gymnast.engine.torch.layers import run
from gymnast.engine.torch.network import Forward
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters

Array = np.ndarray


class TorchInference:
    def __init__(self, network: Network, parameters: Parameters) -> None:
        self.forward = Forward(network)
        self.tensors = {n: torch.from_numpy(view) for n, view in parameters.views.items()}

    @torch.no_grad()
    def actor(self, features: Array) -> Array:
        return self._run("actor", features).numpy()

    @torch.no_grad()
    def critic(self, features: Array) -> Array:
        return self._run("critic", features).numpy()

    def _run(self, part: str, features: Array) -> torch.Tensor:
        x, network = torch.from_numpy(features), self.forward.network
        if self.forward.own is not None:
            output, value = self.forward(self.tensors, x)
            return output if part == "actor" else value
        hidden = run("shared", network.shared, self.tensors, x)
        if part == "actor":
            return run(part, network.actor, self.tensors, hidden)
        return run(part, network.critic, self.tensors, hidden).squeeze(-1)
