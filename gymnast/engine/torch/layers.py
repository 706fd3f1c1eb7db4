"""Forward passes of every kind of layer, for autograd. `policy/inference.py` does the same in NumPy.

Images are kept in channels-last memory format, whatever the order of their axes: otherwise, on a CPU,
the weight gradient of a first convolution with few channels takes five times as long.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gymnast.engine.torch.fast_ops import dense
from gymnast.engine.torch.flatten import FlattenChannelsLast
from gymnast.engine.torch.recurrent import SequenceMemory
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
    Recurrent,
    Residual,
    Stack,
)

_FRESH = (Conv, Linear, LayerNorm)
"""Layers whose output is read by the next layer only, not even by their own backward pass. The next
layer may overwrite it."""
_ACTIVATIONS = {"silu": functional.silu, "gelu": functional.gelu, "elu": functional.elu}
_TYPES = {"float32": torch.float32, "int64": torch.int64, "uint8": torch.uint8}


def run_stack(
    name: str,
    stack: Stack,
    tensors: Mapping[str, Tensor],
    x: Tensor,
    activations: list[tuple[str, Tensor]] | None = None,
    memory: SequenceMemory | None = None,
) -> Tensor:
    """Returns the output of a stack for features [B, ...].

    `name` is the prefix of its parameters in `tensors`. The kind and outputs of every activation
    layer are appended to `activations`. `memory`: the states of recurrent layers, None without any.
    """
    for i, layer in enumerate(stack):
        at = f"{name}.{i}"
        match layer:
            case Linear():
                # x is bfloat16 inside an image encoder of that precision; parameters stay float32
                weight, bias = (tensors[f"{at}.{part}"].to(x.dtype) for part in ("weight", "bias"))
                x = dense(x, weight, bias)
            case Activation("tanh"):
                x = torch.tanh(x)
            case Activation("relu"):  # in place where nothing else reads the input
                x = torch.relu_(x) if i and isinstance(stack[i - 1], _FRESH) else torch.relu(x)
            case Activation(kind):
                x = _ACTIVATIONS[kind](x)
            case LayerNorm(width):
                scale, bias = tensors[f"{at}.scale"], tensors[f"{at}.bias"]
                x = functional.layer_norm(x, (width,), scale, bias)
            case Recurrent():
                assert memory is not None, "a network with memory needs the states"
                x = memory.run(at, layer, x, tensors)
            case Embedding():
                x = functional.embedding(x, tensors[f"{at}.weight"])
            case Flatten():
                x = FlattenChannelsLast.apply(x) if _is_channels_last(x) else x.flatten(1)  # type: ignore[assignment]
            case Pixels():
                x = channels_last(layer, x).to(_precision(layer, tensors))
                if not _scales(stack, i + 1):  # otherwise the convolution scales its weights
                    x = x / layer.top
            case Conv(stride=stride, padding=padding):
                weight, bias = tensors[f"{at}.weight"], tensors[f"{at}.bias"]
                if _scales(stack, i):
                    weight = weight / stack[i - 1].top  # type: ignore[union-attr]
                x = functional.conv2d(x, weight.to(x.dtype), bias.to(x.dtype), stride, padding)
            case Float32():  # float64 in tests, hence the dtype of the weights
                x = x.to(next(iter(tensors.values())).dtype)
            case MaxPool(kernel, stride, padding):
                x = functional.max_pool2d(x, kernel, stride, padding)
            case Residual(inner):
                x = x + run_stack(at, inner, tensors, x, activations)
            case Parallel(dtype, branches):
                parts = (
                    run_stack(f"{at}.{key}", s, tensors, record_field(dtype, key, x), activations)
                    for key, s in branches
                )
                x = torch.cat(list(parts), -1)
        if activations is not None and isinstance(layer, Activation):
            activations.append((layer.kind, x))
    return x


def _is_channels_last(x: Tensor) -> bool:
    """True for images in channels-last memory format that need a gradient."""
    last = x.ndim == 4 and x.is_contiguous(memory_format=torch.channels_last)
    return last and x.requires_grad and not x.is_contiguous()


def _precision(layer: Pixels, tensors: Mapping[str, Tensor]) -> torch.dtype:
    """Returns the dtype to compute in: the layer's, unless the weights are float64 (in tests)."""
    weights = next(iter(tensors.values())).dtype
    return weights if weights != torch.float32 else getattr(torch, layer.precision)


def pixels_to_float(layer: Pixels, x: Tensor) -> Tensor:
    """Returns images of bytes [B, *shape] as floats in 0..1, [B, channels, height, width]."""
    return channels_last(layer, x).to(torch.float32) / layer.top


def channels_last(layer: Pixels, x: Tensor) -> Tensor:
    """Returns images of bytes [B, *shape] as [B, channels, height, width] in channels-last format.

    Images that already have this memory format are not copied.
    """
    if len(layer.shape) == 2:
        return x.unsqueeze(1)
    if layer.channels == "last":
        return x.permute(0, 3, 1, 2)
    if x.is_contiguous(memory_format=torch.channels_last):
        return x
    # plane by plane: three times as fast as a transposing copy
    return torch.stack(x.unbind(1), -1).permute(0, 3, 1, 2)


def record_field(dtype: np.dtype, name: str, rows: Tensor) -> Tensor:
    """Returns one field [B, ...] of records that are given as bytes [B, size of a record]."""
    # torch has no records: a field is a slice of the bytes, reinterpreted as its type.
    kind, offset = dtype.fields[name][:2]  # type: ignore[index]
    base, shape = kind.subdtype or (kind, ())
    # Always a copy: one row counts as contiguous even inside a record, where it may be unaligned,
    # and `view` needs storage that starts with the field.
    part = rows[:, offset : offset + kind.itemsize].clone(memory_format=torch.contiguous_format)
    return part.view(_TYPES[base.name]).reshape(len(rows), *shape)


def _scales(stack: Stack, i: int) -> bool:
    """True if layer i is a convolution that scales the pixels it reads to 0..1.

    Dividing its few weights by `top` gives the same result as dividing every pixel, and is faster.
    """
    return 0 < i < len(stack) and isinstance(stack[i], Conv) and isinstance(stack[i - 1], Pixels)
