"""Independent implementations of the activations: in NumPy, and in torch for autograd."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor


def float64_activation(kind: str, x: np.ndarray) -> np.ndarray:
    """Returns the activation in float64."""
    x = x.astype(np.float64)
    match kind:
        case "tanh":
            return np.tanh(x)
        case "relu":
            return np.maximum(x, 0)
        case "silu":
            with np.errstate(over="ignore"):
                return x / (1 + np.exp(-x))
        case "gelu":
            return x * 0.5 * np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)))(x)
        case "elu":
            return np.where(x < 0, np.expm1(np.minimum(x, 0)), x)
    raise ValueError(kind)


def _elu(x: Tensor) -> Tensor:
    return torch.where(x < 0, torch.expm1(x.clamp(max=0)), x)


TORCH = {
    "tanh": torch.tanh,
    "relu": lambda x: x.clamp(min=0),
    "silu": lambda x: x * torch.sigmoid(x),
    "gelu": lambda x: x * 0.5 * (1 + torch.erf(x / math.sqrt(2))),
    "elu": _elu,
}
