"""Torch modules that a user might write, valid and invalid."""

from __future__ import annotations

import torch
from torch import nn

from gymnast.spaces.spaces import BoxObs, DiscreteObs, ImageObs


class Right(nn.Module):
    """A module for any observation space."""

    def __init__(self, observation, n_outputs: int, width: int = 8) -> None:
        super().__init__()
        self.entries = getattr(observation, "leaves", {"": observation})
        self.encoders = nn.ModuleDict()
        total = 0
        for name, leaf in self.entries.items():
            encoder, size = self._encoder(leaf, width)
            self.encoders[f"of {name.replace('.', ' ')}"] = encoder
            total += size
        self.outputs, self.value = nn.Linear(total, n_outputs), nn.Linear(total, 1)
        nn.init.zeros_(self.outputs.weight)
        self.scale = nn.Parameter(torch.tensor(1.0))  # a scalar

    def _encoder(self, leaf, width: int) -> tuple[nn.Module, int]:
        if isinstance(leaf, BoxObs):
            return nn.Sequential(nn.Linear(leaf.size, width), nn.Tanh(), nn.Dropout(0.5)), width
        if isinstance(leaf, DiscreteObs):
            return nn.Embedding(leaf.n, width), width
        if isinstance(leaf, ImageObs):
            channels = leaf.planes[0]
            pooled = nn.AdaptiveAvgPool2d(2)
            return nn.Sequential(nn.Conv2d(channels, 4, 3), nn.ReLU(), pooled, nn.Flatten()), 16
        return nn.Sequential(nn.Embedding(sum(leaf.n), width), nn.Flatten()), len(leaf.n) * width

    def forward(self, x):
        parts = x if isinstance(x, dict) else {"": x}
        named = zip(parts.values(), self.encoders.values(), strict=True)
        hidden = self.scale * torch.cat(
            [encode(part.reshape_as(part)) for part, encode in named], -1
        )
        return self.outputs(hidden), self.value(hidden).squeeze(-1)


class Normed(Right):
    def __init__(self, observation, n_outputs: int) -> None:
        super().__init__(observation, n_outputs)
        self.norm = nn.BatchNorm1d(4)


class Wide(Right):
    def forward(self, x):
        output, value = super().forward(x)
        return output, value[:, None]


class Lonely(Right):
    def forward(self, x):
        return super().forward(x)[0]


class Raising(Right):
    def forward(self, x):
        raise RuntimeError("the shapes do not fit")


class Double(Right):
    def __init__(self, observation, n_outputs: int) -> None:
        super().__init__(observation, n_outputs)
        self.double()


class Empty(nn.Module):
    def __init__(self, observation, n_outputs: int) -> None:
        super().__init__()


class Plain:
    def __init__(self, observation, n_outputs: int) -> None:
        pass
