"""Every kind of layer, for autograd. Twin of `policy/inference.py`, with convolutions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gymnast.policy.layers import (
    Activation,
    Conv,
    Embedding,
    Flatten,
    LayerNorm,
    Linear,
    MaxPool,
    Parallel,
    Pixels,
    Residual,
    Stack,
)

_TYPES = {"float32": torch.float32, "int64": torch.int64, "uint8": torch.uint8}


def run(name: str, stack: Stack, tensors: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """The stack called `name` on features [B, ...]."""
    for i, layer in enumerate(stack):
        at = f"{name}.{i}"
        match layer:
            case Linear():
                x = torch.addmm(tensors[f"{at}.bias"], x, tensors[f"{at}.weight"])
            case Activation("tanh"):
                x = torch.tanh(x)
            case Activation("relu"):
                x = torch.relu(x)
            case LayerNorm(width):
                scale, bias = tensors[f"{at}.scale"], tensors[f"{at}.bias"]
                x = functional.layer_norm(x, (width,), scale, bias)
            case Embedding():
                x = functional.embedding(x, tensors[f"{at}.weight"])
            case Flatten():
                x = x.flatten(1)
            case Pixels():
                x = pixels(layer, x).to(next(iter(tensors.values())).dtype)
            case Conv(stride=stride, padding=padding):
                weight, bias = tensors[f"{at}.weight"], tensors[f"{at}.bias"]
                x = functional.conv2d(x, weight, bias, stride, padding)
            case MaxPool(kernel, stride, padding):
                x = functional.max_pool2d(x, kernel, stride, padding)
            case Residual(inner):
                x = x + run(at, inner, tensors, x)
            case Parallel(dtype, branches):
                parts = (
                    run(f"{at}.{key}", s, tensors, field(dtype, key, x)) for key, s in branches
                )
                x = torch.cat(list(parts), -1)
    return x


def pixels(layer: Pixels, x: Tensor) -> Tensor:
    """[B, *shape] bytes -> [B, channels, height, width] in 0..1."""
    if len(layer.shape) == 2:
        x = x.unsqueeze(1)
    elif layer.channels == "last":
        x = x.permute(0, 3, 1, 2)
    return x.contiguous().to(torch.float32) / layer.top


def field(dtype: np.dtype, name: str, rows: Tensor) -> Tensor:
    """One field [B, ...] of records that come as bytes [B, size of one]."""
    kind, offset = dtype.fields[name][:2]  # type: ignore[index]
    base, shape = kind.subdtype or (kind, ())
    part = rows[:, offset : offset + kind.itemsize].contiguous()
    return part.view(_TYPES[base.name]).reshape(len(rows), *shape)
