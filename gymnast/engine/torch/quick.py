"""What torch does slowly for networks of images: compiled kernels where they were built, oneDNN's
products where torch would take MKL's; plain torch elsewhere.

Pixels are the same bytes whoever puts them together; the last bits of a dense layer are not.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from gymnast.compiled import kernels

FEW = 16
"""Rows up to which a dense layer waits for its weights rather than for the products."""
MANY = 64
"""Rows from which oneDNN's way pays."""
MANY_WEIGHTS = 2**18
"""From here on they lie in no near cache."""
_product: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
"""x @ weight.T + bias by oneDNN, where torch has it: on AMD's processors faster than MKL."""


def side_by_side(plane: Tensor, index: Tensor, rows: Tensor) -> Tensor:
    """Pixels [b, height, width, channels] from planes [F, height, width]: those of row r are
    `index[rows[r]]`, of [B, channels] int32."""
    native, (_, height, width) = kernels(), plane.shape
    if native is None:
        which = index.index_select(0, rows).unbind(1)
        return torch.stack([plane.index_select(0, channel) for channel in which], -1)
    out = torch.empty((len(rows), height, width, index.shape[1]), dtype=torch.uint8)
    native.side_by_side(plane.numpy(), index.numpy(), rows.numpy(), out.numpy())
    return out


def dense(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """bias + x @ weight."""
    if weight.numel() < MANY_WEIGHTS or not _plain(x, weight, bias):
        return torch.addmm(bias, x, weight)
    n, n_out = len(x), weight.shape[1]
    if n >= MANY and _product is not None:
        return Dense.apply(x, weight, bias)  # type: ignore[return-value]
    native, learns = kernels(), torch.is_grad_enabled() and weight.requires_grad
    if native is None or n > FEW or n_out % 16 or learns:
        return torch.addmm(bias, x, weight)
    out = torch.empty((n, n_out))
    native.few_rows(*(t.detach().numpy() for t in (x, weight, bias)), out.numpy())
    return out


class Dense(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight.t(), bias, "none", [], "")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (x, weight) = gradients, ctx.saved_tensors
        to_x, to_weight, to_bias = ctx.needs_input_grad
        back = _product(gradient, weight, None, "none", [], "") if to_x else None
        return back, x.t() @ gradient if to_weight else None, gradient.sum(0) if to_bias else None


def _plain(*tensors: Tensor) -> bool:
    """Floats that lie side by side in this computer's memory."""
    return all(t.dtype == torch.float32 and t.is_cpu and t.is_contiguous() for t in tensors)
