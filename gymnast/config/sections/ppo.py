"""What can be set of proximal policy optimisation (Schulman et al. 2017)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gymnast.config.numbers import OFF, Count, CountOrShare, Fraction, Maybe, Positive, Share
from gymnast.config.schedule import Schedule, highest, lowest
from gymnast.config.scheduled import Scheduled
from gymnast.config.sections.gradient import Coefficient, GradientSection


class PPOConfig(GradientSection):
    LIVE = ("value_loss", "advantage_norm")
    tolerates_stale_policy = True
    name: Literal["ppo"] = "ppo"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    n_steps: Scheduled[Count] = 128
    """Steps each environment copy contributes to a rollout."""
    epochs: Scheduled[Annotated[Count, Field(le=10_000)]] = 4
    """Passes over a rollout."""
    batch_size: Scheduled[CountOrShare] = Share(0.25)
    """Transitions per gradient step: a count, or a share of the rollout."""
    clip: Coefficient = Schedule.constant(0.2)
    """How far the ratio may move from 1 and still be rewarded."""
    value_clip: Maybe[Coefficient] = OFF
    """How far a value may move from the one collected and still be rewarded."""
    entropy_coef: Coefficient = Schedule.constant(0.0)
    """Weight of the entropy bonus."""
    value_coef: Coefficient = Schedule.constant(0.5)
    """Weight of the value loss."""
    value_loss: Literal["mse", "huber"] = "mse"
    """Shape of the value loss."""
    gae_lambda: Scheduled[Fraction] = 0.95
    """Bias (0) against variance (1) of the advantage estimate."""
    target_kl: Scheduled[Maybe[Positive]] = OFF
    """An update stops early once the policy has moved this far."""
    kl_coef: Coefficient = Schedule.constant(0.0)
    """Weight of the penalty on moving away from the collecting policy."""
    advantage_norm: Literal["minibatch", "rollout", "off"] = "minibatch"
    """Over what advantages are brought to mean 0 and deviation 1."""

    def minibatch(self, rollout: int) -> int:
        """Transitions per gradient step, for a rollout of this many; the fewest of a schedule."""
        if isinstance(self.batch_size, Share):
            return max(1, round(self.batch_size * rollout))
        return min(int(lowest(self.batch_size)), rollout)

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        shortest, rollout = (n_envs * int(of(self.n_steps)) for of in (lowest, highest))
        if self.advantage_norm == "minibatch" and self.minibatch(shortest) < 2:
            problem = f"{self.batch_size} is one step at a time, whose normalised advantage is 0"
            return [("batch_size", f"{problem} (expected 2 or more, or algo.advantage_norm=off)")]
        if isinstance(self.batch_size, Share) or highest(self.batch_size) <= rollout:
            return []
        problem = f"is more than a rollout holds: {n_envs} envs x {self.n_steps} steps = {rollout}"
        return [("batch_size", f"{self.batch_size} {problem} (or write a share: 25%)")]
