"""Every kind of layer, for autograd. Twin of `policy/inference.py`, with convolutions.

Images lie in memory with their channels last, whatever axes they come with: on a CPU, the weight
gradient of a first convolution with few channels takes five times as long otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gymnast.engine.torch.flattened import Flattened
from gymnast.engine.torch.quick import dense
from gymnast.policy.layers import (
    Activation,
    Conv,
    Embedding,
    Flatten,
    Float32,
    LayerNorm,
    Linear,
    MaxPool,
    Parallel,
    Pixels,
    Residual,
    Stack,
)

_FRESH = (Conv, Linear, LayerNorm)
"""Layers whose output nobody else reads, not even their own backward pass: it may be overwritten."""
_ACTIVATIONS = {"silu": functional.silu, "gelu": functional.gelu, "elu": functional.elu}
_TYPES = {"float32": torch.float32, "int64": torch.int64, "uint8": torch.uint8}


def run(
    name: str,
    stack: Stack,
    tensors: Mapping[str, Tensor],
    x: Tensor,
    heard: list[tuple[str, Tensor]] | None = None,
) -> Tensor:
    """The stack called `name` on features [B, ...]; kind and outputs of its activations are added to
    `heard`."""
    for i, layer in enumerate(stack):
        at = f"{name}.{i}"
        match layer:
            case Linear():
                weight, bias = (tensors[f"{at}.{part}"].to(x.dtype) for part in ("weight", "bias"))
                x = dense(x, weight, bias)
            case Activation("tanh"):
                x = torch.tanh(x)
            case Activation("relu"):
                x = torch.relu_(x) if i and isinstance(stack[i - 1], _FRESH) else torch.relu(x)
            case Activation(kind):
                x = _ACTIVATIONS[kind](x)
            case LayerNorm(width):
                scale, bias = tensors[f"{at}.scale"], tensors[f"{at}.bias"]
                x = functional.layer_norm(x, (width,), scale, bias)
            case Embedding():
                x = functional.embedding(x, tensors[f"{at}.weight"])
            case Flatten():
                x = Flattened.apply(x) if _lies_across(x) else x.flatten(1)  # type: ignore[assignment]
            case Pixels():
                x = channels_last(layer, x).to(_precision(layer, tensors))
                if not _scales(stack, i + 1):
                    x = x / layer.top
            case Conv(stride=stride, padding=padding):
                weight, bias = tensors[f"{at}.weight"], tensors[f"{at}.bias"]
                if _scales(stack, i):
                    weight = weight / stack[i - 1].top  # type: ignore[union-attr]
                x = functional.conv2d(x, weight.to(x.dtype), bias.to(x.dtype), stride, padding)
            case Float32():
                x = x.to(next(iter(tensors.values())).dtype)
            case MaxPool(kernel, stride, padding):
                x = functional.max_pool2d(x, kernel, stride, padding)
            case Residual(inner):
                x = x + run(at, inner, tensors, x, heard)
            case Parallel(dtype, branches):
                parts = (
                    run(f"{at}.{key}", s, tensors, field(dtype, key, x), heard)
                    for key, s in branches
                )
                x = torch.cat(list(parts), -1)
        if heard is not None and isinstance(layer, Activation):
            heard.append((layer.kind, x))
    return x


def _lies_across(x: Tensor) -> bool:
    """Images with gradients whose channels lie last in memory."""
    last = x.ndim == 4 and x.is_contiguous(memory_format=torch.channels_last)
    return last and x.requires_grad and not x.is_contiguous()


def _precision(layer: Pixels, tensors: Mapping[str, Tensor]) -> torch.dtype:
    """That of the layer, unless the weights are of a higher one than usual."""
    weights = next(iter(tensors.values())).dtype
    return weights if weights != torch.float32 else getattr(torch, layer.precision)


def pixels(layer: Pixels, x: Tensor) -> Tensor:
    """[B, *shape] bytes -> [B, channels, height, width] in 0..1."""
    return channels_last(layer, x).to(torch.float32) / layer.top


def channels_last(layer: Pixels, x: Tensor) -> Tensor:
    """[B, *shape] bytes -> [B, channels, height, width], each pixel's channels side by side in
    memory; what lies like that already is not copied."""
    if len(layer.shape) == 2:
        return x.unsqueeze(1)
    if layer.channels == "last":
        return x.permute(0, 3, 1, 2)
    if x.is_contiguous(memory_format=torch.channels_last):
        return x
    # plane by plane: three times as fast as a transposing copy
    return torch.stack(x.unbind(1), -1).permute(0, 3, 1, 2)


def field(dtype: np.dtype, name: str, rows: Tensor) -> Tensor:
    """One field [B, ...] of records that come as bytes [B, size of one]."""
    kind, offset = dtype.fields[name][:2]  # type: ignore[index]
    base, shape = kind.subdtype or (kind, ())
    # a copy even of a single row, which counts as contiguous where it is: it must begin on its own
    part = rows[:, offset : offset + kind.itemsize].clone(memory_format=torch.contiguous_format)
    return part.view(_TYPES[base.name]).reshape(len(rows), *shape)


def _scales(stack: Stack, i: int) -> bool:
    """Does layer i scale the bytes before it? A convolution can: dividing its few weights gives the
    same as dividing every pixel."""
    return 0 < i < len(stack) and isinstance(stack[i], Conv) and isinstance(stack[i - 1], Pixels)
