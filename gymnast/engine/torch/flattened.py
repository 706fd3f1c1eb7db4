"""A gradient that autograd computes as well, to the same bits, but lays out otherwise."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class Flattened(Function):
    """[B, ...] -> [B, n] of images whose channels lie last in memory. The gradient comes back lying
    like them; autograd's own has its channels first, across which the layer before must read."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.shape = x.shape
        return x.flatten(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (gradient,) = gradients
        return gradient.view(ctx.shape).contiguous(memory_format=torch.channels_last)
