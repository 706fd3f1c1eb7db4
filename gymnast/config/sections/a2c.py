"""What can be set of advantage actor-critic (Mnih et al. 2016)."""

from __future__ import annotations

from typing import Literal

from gymnast.config.numbers import Count, Fraction
from gymnast.config.schedule import Schedule
from gymnast.config.scheduled import Scheduled
from gymnast.config.sections.gradient import Coefficient, GradientSection


class A2CConfig(GradientSection):
    LIVE = ("value_loss", "advantage_norm")
    name: Literal["a2c"] = "a2c"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    n_steps: Scheduled[Count] = 16
    """Steps each environment copy contributes to a rollout."""
    entropy_coef: Coefficient = Schedule.constant(0.0)
    """Weight of the entropy bonus."""
    value_coef: Coefficient = Schedule.constant(0.5)
    """Weight of the value loss."""
    value_loss: Literal["mse", "huber"] = "mse"
    """Shape of the value loss."""
    gae_lambda: Scheduled[Fraction] = 0.95
    """Bias (0) against variance (1) of the advantage estimate; 1 is the original's n-step return."""
    advantage_norm: Literal["rollout", "off"] = "off"
    """Over what advantages are brought to mean 0 and deviation 1."""
