"""Acting with networks that NumPy does not run: images and a user's own module."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.torch.layers import run
from gymnast.engine.torch.network import Forward
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters

Array = np.ndarray
MOST_IMAGES = 128
"""Rows of bytes that go through the network at a time: what it makes of them stays near the
processor, and takes no fresh memory for every pass over a rollout."""


class TorchInference:
    act_into = None

    def __init__(self, network: Network, parameters: Parameters) -> None:
        self.forward = Forward(network)
        self.tensors = {n: torch.from_numpy(view) for n, view in parameters.views.items()}

    def actor(self, features: Array) -> Array:
        return self._answer(features, "actor")

    def critic(self, features: Array) -> Array:
        return self._answer(features, "critic")

    @torch.no_grad()
    def both(self, features: Array) -> tuple[Array, Array]:
        """What actor and critic say, [B, k] and [B]: the encoder they share runs once."""
        parts = [self.forward(self.tensors, rows) for rows in _near(features)]
        output, value = (torch.cat(column) for column in zip(*parts, strict=True))
        return output.numpy(), value.numpy()

    @torch.no_grad()
    def layer(self, part: str, i: int, features: Array) -> Array:
        return self._layer(part, i, torch.from_numpy(features)).numpy()

    @torch.no_grad()
    def _answer(self, features: Array, part: str) -> Array:
        if self.forward.own is not None:
            return self.both(features)[part == "critic"]
        last = len(getattr(self.forward.network, part)) - 1
        found = torch.cat([self._layer(part, last, rows) for rows in _near(features)]).numpy()
        return found if part == "actor" else found[:, 0]

    def _layer(self, part: str, i: int, x: Tensor) -> Tensor:
        network = self.forward.network
        if part != "shared":
            x = run("shared", network.shared, self.tensors, x)
        return run(part, getattr(network, part)[: i + 1], self.tensors, x)


def _near(features: Array) -> tuple[Tensor, ...]:
    """Bytes in parts that stay in the processor's cache; anything else whole."""
    rows = torch.from_numpy(features)
    return rows.split(MOST_IMAGES) if rows.dtype == torch.uint8 else (rows,)
