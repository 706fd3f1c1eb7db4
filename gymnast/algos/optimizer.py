"""The optimizer state of a policy, and the metrics of its gradient steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.config.sections.gradient import GradientHyperparameters
from gymnast.engine.adam import Adam, AdamState
from gymnast.engine.engine import engine_for
from gymnast.policy.policy import Policy

Array = np.ndarray


class OptimizerState(AdamState):
    """The state of the optimizer in a checkpoint."""

    last_lr: float | None


class GradientStep:
    """A policy with its engine and its Adam state.

    An update calls `start_update`, takes its gradient steps with `engine` and `adam`, passes their
    losses to `record_losses`, and gets its metrics from `report`.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy, self.engine = policy, engine_for(policy)
        self.adam = Adam(policy.parameters.flat.size)
        spans = {
            part: policy.parameters.prefix_slice(f"{part}.")
            for part in ("shared", "actor", "critic")
        }
        self._part_norms = [
            (f"optim/grad_norm_{part}", f"optim/param_norm_{part}", span)
            for part, span in spans.items()
            if span.stop  # a network without this part has an empty span
        ]
        """Metric names of the gradient and the parameter norm of each part, and its slice of the vector."""
        self._last_lr: float | None = None
        """Learning rate of the previous update; None before the first."""
        self._loss_names: Sequence[str] = ()
        self._losses = np.zeros((0, 0))  # [gradient steps, names]
        self._parameters_before = policy.parameters.flat

    def start_update(self, hparams: GradientHyperparameters) -> None:
        """Starts one update with these hyperparameters.

        Resets Adam's moments if the learning rate changed by more than the factor
        `reset_optimizer_on_lr_jump`.
        """
        factor, last, self._last_lr = hparams.reset_optimizer_on_lr_jump, self._last_lr, hparams.lr
        # A schedule may start or end at 0, from which no factor can be computed.
        change = hparams.lr / last if last and hparams.lr else 1.0
        if factor is not None and not 1 / factor <= change <= factor:
            self.adam.reset()
        self.adam.eps, self.adam.weight_decay = hparams.adam_eps, hparams.weight_decay
        self._parameters_before = self.policy.parameters.flat.copy()

    def record_losses(self, names: Sequence[str], losses: Array) -> None:
        """Stores the losses of this update for `report`.

        There is one row per gradient step and one column per name; the last column is the gradient
        norm before clipping.
        """
        self._loss_names, self._losses = names, losses

    def report(self, hparams: GradientHyperparameters) -> dict[str, float]:
        """Returns the mean losses over the gradient steps, and norms of the parameters and the update.

        Gradient norms per part of the network are those of the last step, before clipping.
        """
        parameters, max_norm = self.policy.parameters, hparams.max_grad_norm
        grad_norm, gradient = self._losses[:, -1], self.engine.gradient
        # The engine keeps the clipped gradient of the last step. Clipping scales all parts by the same
        # factor, and `unclip` is its inverse.
        clipped_norm = _norm(gradient)
        unclip = float(grad_norm[-1]) / clipped_norm if clipped_norm else 1.0
        param_norm = _norm(parameters.flat)
        update_norm = _norm(parameters.flat - self._parameters_before)
        return {
            **dict(zip(self._loss_names, self._losses.mean(0).tolist(), strict=True)),
            "optim/param_norm": param_norm,
            "optim/update_norm": update_norm,
            "optim/update_share": update_norm / param_norm if param_norm else 0.0,
            "optim/grad_norm_max": float(grad_norm.max()),
            **{name: _norm(gradient[span]) * unclip for name, _, span in self._part_norms},
            **{name: _norm(parameters.flat[span]) for _, name, span in self._part_norms},
            "optim/clipped_share": 0.0
            if max_norm is None
            else float((grad_norm > max_norm).mean()),
            "optim/steps": len(self._losses),
        }

    def state(self) -> OptimizerState:
        """Returns the state of Adam and the last learning rate, for a checkpoint or a snapshot."""
        return {**self.adam.state(), "last_lr": self._last_lr}

    def load(self, state: OptimizerState) -> None:
        """Restores what `state` returned."""
        self.adam.load(state)
        self._last_lr = state["last_lr"]


def _norm(vector: Array) -> float:
    return float(np.sqrt(vector.dot(vector)))
