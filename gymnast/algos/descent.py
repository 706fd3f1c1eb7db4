"""Going down a loss: the network under its optimiser, and a report of how the steps went."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from gymnast.config.sections.gradient import GradientSection
from gymnast.engine.torch.adam import Adam
from gymnast.engine.torch.network import TorchNetwork
from gymnast.policy.policy import Policy


class Descent:
    def __init__(self, policy: Policy, cfg: GradientSection) -> None:
        self.policy = policy
        self.network = TorchNetwork(policy.network, policy.parameters)
        self.optimizer = Adam(
            policy.parameters.flat,
            self.network.gradient,
            eps=cfg.adam_eps,
            weight_decay=cfg.weight_decay,
        )
        self._last_lr: float | None = None
        self._steps: list[Tensor] = []
        self._before = policy.parameters.flat

    def begin(self, values: Any) -> None:
        """Of one update. The optimiser forgets where the learning rate jumped, if that is asked for."""
        factor, last, self._last_lr = values.reset_optimizer_on_lr_jump, self._last_lr, values.lr
        change = values.lr / last if last and values.lr else 1.0
        if factor is not None and not 1 / factor <= change <= factor:
            self.optimizer.reset()
        self._steps = []
        self._before = self.policy.parameters.flat.copy()

    def step(self, loss: Tensor, parts: dict[str, Tensor], values: Any) -> None:
        """One step; `parts` of the loss go into the report under their names."""
        norm = self.optimizer.step(loss, lr=values.lr, max_norm=values.max_grad_norm)
        self._names = ("loss/total", *parts, "optim/grad_norm")
        found = [loss.detach(), *(part.detach() for part in parts.values()), norm]
        self._steps.append(torch.stack(found))

    def report(self, values: Any) -> dict[str, float]:
        """Means over the steps of this update; sizes of parameters, of the whole update, and of the
        last gradient by part as it was before clipping gave it the length it has now."""
        parameters, limit = self.policy.parameters, values.max_grad_norm
        every = torch.stack(self._steps)
        norm = every[:, -1]
        held = float(np.linalg.norm(self.network.gradient))
        gradient = self.network.gradient * (float(norm[-1]) / held if held else 1.0)
        return {
            **dict(zip(self._names, every.mean(0).tolist(), strict=True)),
            "optim/param_norm": float(np.linalg.norm(parameters.flat)),
            "optim/update_norm": float(np.linalg.norm(parameters.flat - self._before)),
            "optim/grad_norm_actor": float(np.linalg.norm(gradient[parameters.part("actor.")])),
            "optim/grad_norm_critic": float(np.linalg.norm(gradient[parameters.part("critic.")])),
            "optim/clipped_share": 0.0 if limit is None else float((norm > limit).float().mean()),
            "optim/steps": len(self._steps),
        }

    def state(self) -> dict[str, Any]:
        return {**self.optimizer.state(), "last_lr": self._last_lr}

    def load(self, state: dict[str, Any]) -> None:
        self.optimizer.load(state)
        self._last_lr = state["last_lr"]
