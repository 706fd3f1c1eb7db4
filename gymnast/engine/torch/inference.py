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
    act_into = None

    def __init__(self, network: Network, parameters: Parameters) -> None:
        self.forward = Forward(network)
        self.tensors = {n: torch.from_numpy(view) for n, view in parameters.views.items()}

    def actor(self, features: Array) -> Array:
        return self._answer("actor", features)

    def critic(self, features: Array) -> Array:
        return self._answer("critic", features)

    @torch.no_grad()
    def layer(self, part: str, i: int, features: Array) -> Array:
        network, x = self.forward.network, torch.from_numpy(features)
        if part != "shared":
            x = run("shared", network.shared, self.tensors, x)
        return run(part, getattr(network, part)[: i + 1], self.tensors, x).numpy()

    def _answer(self, part: str, features: Array) -> Array:
        if self.forward.own is not None:
            with torch.no_grad():
                output, value = self.forward(self.tensors, torch.from_numpy(features))
            return (output if part == "actor" else value).numpy()
        last = len(getattr(self.forward.network, part)) - 1
        found = self.layer(part, last, features)
        return found if part == "actor" else found[:, 0]
