"""Acting with networks that NumPy does not run: images and a user's own module."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.torch import shares
from gymnast.engine.torch.layers import run
from gymnast.engine.torch.network import Forward
from gymnast.policy.health import Heard
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters

Array = np.ndarray
MOST_IMAGES = 128
"""Rows of bytes that go through the network at a time: what it makes of them stays near the
processor, and takes no fresh memory for every pass over a rollout."""


class TorchInference:
    act_into = health = None
    values_while_acting = True

    def __init__(self, network: Network, parameters: Parameters) -> None:
        self.forward = Forward(network)
        self.tensors = {n: torch.from_numpy(view) for n, view in parameters.views.items()}

    def actor(self, features: Array) -> Array:
        return self._answer(features, "actor")

    def critic(self, features: Array) -> Array:
        return self._answer(features, "critic")

    def both(self, features: Array) -> tuple[Array, Array]:
        """What actor and critic say, [B, k] and [B]: the encoder they share runs once."""
        output, value = self._of_parts(lambda rows: self.forward(self.tensors, rows), features)
        return output, value

    @torch.no_grad()
    def layer(self, part: str, i: int, features: Array) -> Array:
        return self._layer(part, i, torch.from_numpy(features)).numpy()

    @torch.no_grad()
    def activations(self, features: Array) -> tuple[list[Heard], Array]:
        """None of the activations of a user's module, whose inside is its own."""
        if self.forward.own is not None:
            return [], self.actor(features)
        network, tensors = self.forward.network, self.tensors
        heard: dict[str, list[tuple[str, Tensor]]] = {"shared": [], "actor": [], "critic": []}
        hidden = run("shared", network.shared, tensors, torch.from_numpy(features), heard["shared"])
        said = run("actor", network.actor, tensors, hidden, heard["actor"])
        run("critic", network.critic, tensors, hidden, heard["critic"])
        every = [(part, *one) for part, ones in heard.items() for one in ones]
        return [(part, kind, x.float().numpy()) for part, kind, x in every], said.numpy()

    def _answer(self, features: Array, part: str) -> Array:
        if self.forward.own is not None:
            return self.both(features)[part == "critic"]
        last = len(getattr(self.forward.network, part)) - 1
        (found,) = self._of_parts(lambda rows: (self._layer(part, last, rows),), features)
        return found if part == "actor" else found[:, 0]

    def _of_parts(
        self, work: Callable[[Tensor], tuple[Tensor, ...]], features: Array
    ) -> list[Array]:
        """What comes of all rows: bytes go in parts, and many parts in shares of several threads;
        anything else whole."""
        rows = torch.from_numpy(features)
        parts = rows.split(MOST_IMAGES) if rows.dtype == torch.uint8 else (rows,)

        def of(span: slice) -> list[tuple[Tensor, ...]]:
            with torch.no_grad():  # a setting of the thread
                return [work(part) for part in parts[span]]

        # a user's module is not made for several threads
        spans = [slice(None)] if self.forward.own is not None else shares.spans(len(parts))
        found = chain.from_iterable(shares.at_once(of, spans))
        return [torch.cat(column).numpy() for column in zip(*found, strict=True)]

    def _layer(self, part: str, i: int, x: Tensor) -> Tensor:
        network = self.forward.network
        if part != "shared":
            x = run("shared", network.shared, self.tensors, x)
        return run(part, getattr(network, part)[: i + 1], self.tensors, x)
