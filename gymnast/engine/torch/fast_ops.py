"""Faster replacements for two torch operations of image networks.

Pixels are gathered by a compiled kernel, and large dense layers are computed by a compiled kernel or
by oneDNN instead of MKL. Without compiled kernels or oneDNN, plain torch is used. The gathered pixels
are identical in any case; the last bits of a dense layer are not.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from gymnast.compiled import kernels

MAX_KERNEL_ROWS = 16
"""Up to this many rows, a dense layer is limited by reading its weights, not by multiplying."""
MIN_ONEDNN_ROWS = 64
"""Number of rows from which oneDNN is faster than MKL."""
MIN_LARGE_WEIGHTS = 2**18
"""Number of weights from which they do not fit into the nearest CPU caches."""
_onednn_linear: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
"""x @ weight.T + bias by oneDNN, if this torch has it: faster than MKL on AMD processors."""


def gather_images(plane: Tensor, index: Tensor, rows: Tensor) -> Tensor:
    """Gathers images [b, height, width, channels] from planes [F, height, width].

    Image r consists of the planes `index[rows[r]]`, with `index` of shape [B, channels], int32.
    """
    native, (_, height, width) = kernels(), plane.shape
    if native is None:
        channels = index.index_select(0, rows).unbind(1)
        return torch.stack([plane.index_select(0, channel) for channel in channels], -1)
    out = torch.empty((len(rows), height, width, index.shape[1]), dtype=torch.uint8)
    native.gather_images(plane.numpy(), index.numpy(), rows.numpy(), out.numpy())
    return out


def dense(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Returns bias + x @ weight, [B, n_out], for x [B, n_in], weight [n_in, n_out] and bias [n_out]."""
    if weight.numel() < MIN_LARGE_WEIGHTS or not _plain(x, weight, bias):
        return torch.addmm(bias, x, weight)
    n, n_out = len(x), weight.shape[1]
    if n >= MIN_ONEDNN_ROWS and _onednn_linear is not None:
        return Dense.apply(x, weight, bias)  # type: ignore[return-value]
    # The kernel has no backward pass.
    native, needs_grad = kernels(), torch.is_grad_enabled() and weight.requires_grad
    if native is None or n > MAX_KERNEL_ROWS or n_out % 16 or needs_grad:
        return torch.addmm(bias, x, weight)
    out = torch.empty((n, n_out))
    native.few_rows(*(t.detach().numpy() for t in (x, weight, bias)), out.numpy())
    return out


class Dense(Function):
    """bias + x @ weight by oneDNN, for autograd."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _onednn_linear(x, weight.t(), bias, "none", [], "")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Returns the gradients with respect to x, weight and bias, each None if it is not needed, for the
        gradient [B, n_out] with respect to the output."""
        (gradient,), (x, weight) = gradients, ctx.saved_tensors
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        # dX = dY W^T; oneDNN transposes its second argument, so it gets W itself.
        d_x = _onednn_linear(gradient, weight, None, "none", [], "") if needs_x else None
        d_weight = x.t() @ gradient if needs_weight else None
        return d_x, d_weight, gradient.sum(0) if needs_bias else None


def _plain(*tensors: Tensor) -> bool:
    """True if all tensors are contiguous, float32 and on the CPU."""
    return all(t.dtype == torch.float32 and t.is_cpu and t.is_contiguous() for t in tensors)
