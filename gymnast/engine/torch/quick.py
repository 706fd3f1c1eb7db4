"""What torch does slowly for networks of images: compiled kernels where they were built, torch elsewhere.

Pixels are the same bytes either way; the last bits of a dense layer are not.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gymnast.compiled import kernels

FEW = 16
"""Rows up to which a dense layer waits for its weights rather than for the products."""
MANY_WEIGHTS = 2**18
"""From here on they lie in no near cache."""


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
    n, n_out = len(x), weight.shape[1]
    few = n <= FEW and n_out % 16 == 0 and weight.numel() >= MANY_WEIGHTS
    if not few or torch.is_grad_enabled() or weight.requires_grad or not _plain(x, weight, bias):
        return torch.addmm(bias, x, weight)
    native = kernels()
    if native is None:
        return torch.addmm(bias, x, weight)
    out = torch.empty((n, n_out))
    native.few_rows(x.numpy(), weight.numpy(), bias.numpy(), out.numpy())
    return out


def _plain(*tensors: Tensor) -> bool:
    """Floats that lie side by side in this computer's memory."""
    return all(t.dtype == torch.float32 and t.is_cpu and t.is_contiguous() for t in tensors)
