"""AdamW on one flat vector: a handful of operations whatever the number of layers."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.adam import BETA1, BETA2, Adam


@torch.no_grad()
def descend(
    parameters: np.ndarray, gradient: np.ndarray, adam: Adam, *, lr: float, max_norm: float | None
) -> Tensor:
    """One step, in place; returns the gradient's norm before clipping."""
    weights, slope = torch.from_numpy(parameters), torch.from_numpy(gradient)
    first, second = torch.from_numpy(adam.first), torch.from_numpy(adam.second)
    norm = torch.linalg.vector_norm(slope)
    if max_norm is not None:
        slope.mul_(torch.clamp(max_norm / (norm + 1e-6), max=1.0))
    adam.steps += 1
    if adam.weight_decay:
        weights.mul_(1 - lr * adam.weight_decay)
    first.lerp_(slope, 1 - BETA1)
    second.mul_(BETA2).addcmul_(slope, slope, value=1 - BETA2)
    spread = second.sqrt().div_(math.sqrt(1 - BETA2**adam.steps)).add_(adam.eps)
    weights.addcdiv_(first, spread, value=-lr / (1 - BETA1**adam.steps))
    return norm
