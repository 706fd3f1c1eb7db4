"""Hyperparameters shared by all algorithms that train a network with Adam."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from gymnast.config.numbers import OFF, Fraction, Maybe, Number, Positive
from gymnast.config.schedule import Schedule
from gymnast.config.scheduled import Scheduled
from gymnast.config.section import AlgoSection, Hyperparameters


def _not_negative(schedule: Schedule) -> Schedule:
    if schedule.lowest < 0:
        raise ValueError(f"{schedule} falls below 0 (expected 0 or more)")
    return schedule


Coefficient = Annotated[Schedule, AfterValidator(_not_negative)]


@dataclass(frozen=True, kw_only=True)
class GradientHyperparameters(Hyperparameters):
    """The values of a GradientSection at one rollout."""

    lr: float
    max_grad_norm: float | None
    adam_eps: float
    weight_decay: float
    reset_optimizer_on_lr_jump: float | None

    def with_smaller_step(self) -> Self:
        """Returns the same hyperparameters with half the learning rate."""
        return replace(self, lr=self.lr / 2)


class GradientSection(AlgoSection):
    hyperparameters = GradientHyperparameters
    lr: Coefficient = Schedule.constant(3e-4)
    """Learning rate."""
    gamma: Scheduled[Fraction] = 0.99
    """Discount factor per step."""
    max_grad_norm: Scheduled[Maybe[Positive]] = 0.5
    """Maximum global norm of the gradient; larger gradients are scaled down to it."""
    adam_eps: Scheduled[Positive] = 1e-5
    """Epsilon of Adam, added to the denominator."""
    weight_decay: Scheduled[Annotated[Number, Field(ge=0)]] = 0.0
    """Decoupled weight decay (AdamW)."""
    reset_optimizer_on_lr_jump: Scheduled[Maybe[Annotated[Number, Field(gt=1)]]] = OFF
    """Reset Adam's moments when the learning rate changes by more than this factor between two updates."""
