"""Going down a loss: a policy under its optimiser, and a report of how the steps went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gymnast.engine.adam import Adam
from gymnast.engine.engine import engine_for
from gymnast.policy.policy import Policy

Array = np.ndarray


class GradientStep:
    def __init__(self, policy: Policy) -> None:
        self.policy, self.engine = policy, engine_for(policy)
        size = policy.parameters.flat.size
        self.adam = Adam(size)
        spans = {part: policy.parameters.part(f"{part}.") for part in ("shared", "actor", "critic")}
        self._parts = [
            (f"optim/grad_norm_{part}", f"optim/param_norm_{part}", span)
            for part, span in spans.items()
            if span.stop
        ]
        self._last_lr: float | None = None
        self._names: Sequence[str] = ()
        self._steps = np.zeros((0, 0))
        self._before = policy.parameters.flat

    def start_update(self, values: Any) -> None:
        """Starts one update. Where the learning rate jumped, the optimizer forgets its moments, if the
        config asks for that."""
        factor, last, self._last_lr = values.reset_optimizer_on_lr_jump, self._last_lr, values.lr
        change = values.lr / last if last and values.lr else 1.0
        if factor is not None and not 1 / factor <= change <= factor:
            self.adam.reset()
        self.adam.eps, self.adam.weight_decay = values.adam_eps, values.weight_decay
        self._before = self.policy.parameters.flat.copy()

    def record_losses(self, names: Sequence[str], steps: Array) -> None:
        """What this update's steps were like: a line each, columns of these names; the last is the
        gradient's norm."""
        self._names, self._steps = names, steps

    def report(self, values: Any) -> dict[str, float]:
        """Means over the steps of this update; sizes of the whole update, and by part those of
        parameters and of the last gradient, as it was before clipping gave it the length it has now."""
        parameters, limit = self.policy.parameters, values.max_grad_norm
        norm, gradient = self._steps[:, -1], self.engine.gradient
        held = _length(gradient)
        stretch = float(norm[-1]) / held if held else 1.0
        size, moved = _length(parameters.flat), _length(parameters.flat - self._before)
        return {
            **dict(zip(self._names, self._steps.mean(0).tolist(), strict=True)),
            "optim/param_norm": size,
            "optim/update_norm": moved,
            "optim/update_share": moved / size if size else 0.0,
            "optim/grad_norm_max": float(norm.max()),
            **{name: _length(gradient[at]) * stretch for name, _, at in self._parts},
            **{name: _length(parameters.flat[at]) for _, name, at in self._parts},
            "optim/clipped_share": 0.0 if limit is None else float((norm > limit).mean()),
            "optim/steps": len(self._steps),
        }

    def state(self) -> dict[str, Any]:
        return {**self.adam.state(), "last_lr": self._last_lr}

    def load(self, state: dict[str, Any]) -> None:
        self.adam.load(state)
        self._last_lr = state["last_lr"]


def _length(vector: Array) -> float:
    return float(np.sqrt(vector.dot(vector)))
