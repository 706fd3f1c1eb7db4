"""Hyperparameters of advantage actor-critic, A2C (Mnih et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gymnast.config.numbers import Count, Fraction
from gymnast.config.schedule import Schedule
from gymnast.config.scheduled import Scheduled
from gymnast.config.sections.gradient import Coefficient, GradientHyperparameters, GradientSection


@dataclass(frozen=True, kw_only=True)
class A2CHyperparameters(GradientHyperparameters):
    """The values of an A2CConfig at one rollout."""

    n_steps: int
    entropy_coef: float
    value_coef: float
    value_loss: Literal["mse", "huber"]
    gae_lambda: float
    advantage_norm: Literal["rollout", "off"]


class A2CConfig(GradientSection):
    hyperparameters = A2CHyperparameters
    LIVE = ("value_loss", "advantage_norm")
    supports_memory = True
    async_obstacle = None
    name: Literal["a2c"] = "a2c"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    n_steps: Scheduled[Count] = 16
    """Steps that each env copy contributes to a rollout."""
    entropy_coef: Coefficient = Schedule.constant(0.0)
    """Weight of the entropy bonus."""
    value_coef: Coefficient = Schedule.constant(0.5)
    """Weight of the value loss."""
    value_loss: Literal["mse", "huber"] = "mse"
    """Shape of the value loss."""
    gae_lambda: Scheduled[Fraction] = 0.95
    """Lambda of GAE: lower has more bias, higher more variance. 1 is the n-step return of the paper."""
    advantage_norm: Literal["rollout", "off"] = "off"
    """Normalize advantages to mean 0 and standard deviation 1 over the whole rollout, or not at all."""
