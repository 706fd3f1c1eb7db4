"""A flatten operation whose gradient has the memory layout that convolutions read fastest.

The gradient has the same bits as autograd's own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class FlattenChannelsLast(Function):
    """Flattens images in channels-last memory format, [B, ...] -> [B, n].

    The gradient is returned in channels-last format too. Autograd's own would be channels-first, and
    the convolution before this layer would read it with large strides.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.shape = x.shape
        return x.flatten(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (gradient,) = gradients
        return gradient.view(ctx.shape).contiguous(memory_format=torch.channels_last)
