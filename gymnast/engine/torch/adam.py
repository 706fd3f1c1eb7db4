"""AdamW on one flat vector: a handful of operations whatever the number of layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gymnast.policy.parameters import aligned_zeros

_BETA1, _BETA2 = 0.9, 0.999


class Adam:
    def __init__(
        self, parameters: np.ndarray, gradient: np.ndarray, *, eps: float, weight_decay: float
    ):
        self.eps, self.weight_decay = eps, weight_decay
        self.parameters, self.gradient = torch.from_numpy(parameters), torch.from_numpy(gradient)
        self.first, self.second = aligned_zeros(parameters.size), aligned_zeros(parameters.size)
        self._first, self._second = torch.from_numpy(self.first), torch.from_numpy(self.second)
        self.steps = 0

    @torch.no_grad()
    def step(self, loss: Tensor, *, lr: float, max_norm: float | None) -> Tensor:
        """One descent step; returns the gradient's norm before clipping."""
        self.gradient.zero_()
        loss.backward()
        norm = torch.linalg.vector_norm(self.gradient)
        if max_norm is not None:
            self.gradient.mul_(torch.clamp(max_norm / (norm + 1e-6), max=1.0))
        self.steps += 1
        if self.weight_decay:
            self.parameters.mul_(1 - lr * self.weight_decay)
        self._first.lerp_(self.gradient, 1 - _BETA1)
        self._second.mul_(_BETA2).addcmul_(self.gradient, self.gradient, value=1 - _BETA2)
        spread = self._second.sqrt().div_(math.sqrt(1 - _BETA2**self.steps)).add_(self.eps)
        self.parameters.addcdiv_(self._first, spread, value=-lr / (1 - _BETA1**self.steps))
        return norm

    def reset(self) -> None:
        """Forget the past: moments and step count."""
        self.first[:], self.second[:], self.steps = 0.0, 0.0, 0

    def state(self) -> dict[str, Any]:
        return {"first": self.first.copy(), "second": self.second.copy(), "steps": self.steps}

    def load(self, state: dict[str, Any]) -> None:
        self.first[:], self.second[:] = state["first"], state["second"]
        self.steps = int(state["steps"])
