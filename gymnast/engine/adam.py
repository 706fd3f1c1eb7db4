"""What AdamW (arXiv:1711.05101) remembers between steps; an engine takes the steps."""

from __future__ import annotations

from typing import Any

from gymnast.policy.parameters import aligned_zeros

BETA1, BETA2 = 0.9, 0.999


class Adam:
    def __init__(self, size: int, *, eps: float = 1e-8, weight_decay: float = 0.0) -> None:
        self.eps, self.weight_decay = eps, weight_decay
        """Read at every step; an algorithm sets them at the start of each update."""
        self.first, self.second = aligned_zeros(size), aligned_zeros(size)
        """Moments, laid out like the parameters."""
        self.steps = 0

    def reset(self) -> None:
        """Forget the past: moments and step count."""
        self.first[:], self.second[:], self.steps = 0.0, 0.0, 0

    def state(self) -> dict[str, Any]:
        return {"first": self.first.copy(), "second": self.second.copy(), "steps": self.steps}

    def load(self, state: dict[str, Any]) -> None:
        self.first[:], self.second[:] = state["first"], state["second"]
        self.steps = int(state["steps"])
