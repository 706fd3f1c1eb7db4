"""Gradients that autograd computes as well, with less copying of large tensors: the same bits."""

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


class Rectified(Function):
    """relu, written over its input; so is the gradient, which must be nobody else's."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(torch.relu_(x))
        return x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (gradient,), (y,) = gradients, ctx.saved_tensors
        return torch.ops.aten.threshold_backward.grad_input(gradient, y, 0, grad_input=gradient)
