"""Hyperparameters of proximal policy optimization, PPO (Schulman et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from gymnast.config.numbers import OFF, Count, CountOrShare, Fraction, Maybe, Positive, Share
from gymnast.config.schedule import Schedule, highest, lowest
from gymnast.config.scheduled import Scheduled
from gymnast.config.sections.gradient import Coefficient, GradientHyperparameters, GradientSection


@dataclass(frozen=True, kw_only=True)
class PPOHyperparameters(GradientHyperparameters):
    """The values of a PPOConfig at one rollout."""

    n_steps: int
    epochs: int
    batch_size: int | Share
    clip: float
    value_clip: float | None
    entropy_coef: float
    value_coef: float
    value_loss: Literal["mse", "huber"]
    gae_lambda: float
    target_kl: float | None
    kl_coef: float
    advantage_norm: Literal["minibatch", "rollout", "off"]

    def minibatch_size(self, rollout_size: int) -> int:
        """Returns the minibatch size for a rollout of `rollout_size` transitions."""
        return _minibatch_size(self.batch_size, rollout_size)


class PPOConfig(GradientSection):
    hyperparameters = PPOHyperparameters
    LIVE = ("value_loss", "advantage_norm")
    supports_memory = True
    async_obstacle = None
    tolerates_stale_policy = True
    name: Literal["ppo"] = "ppo"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    n_steps: Scheduled[Count] = 128
    """Steps that each env copy contributes to a rollout."""
    epochs: Scheduled[Annotated[Count, Field(le=10_000)]] = 4
    """Number of passes over each rollout."""
    batch_size: Scheduled[CountOrShare] = Share(0.25)
    """Transitions per minibatch: a count, or a share of the rollout."""
    clip: Coefficient = Schedule.constant(0.2)
    """Clip range: the probability ratio is clipped to [1 - clip, 1 + clip] in the surrogate objective."""
    value_clip: Maybe[Coefficient] = OFF
    """Clip range of the value loss: how far a prediction may move from the value at collection. off: no
    clipping."""
    entropy_coef: Coefficient = Schedule.constant(0.0)
    """Weight of the entropy bonus."""
    value_coef: Coefficient = Schedule.constant(0.5)
    """Weight of the value loss."""
    value_loss: Literal["mse", "huber"] = "mse"
    """Shape of the value loss."""
    gae_lambda: Scheduled[Fraction] = 0.95
    """Lambda of GAE: 0 is the one-step TD error (high bias), 1 the full return (high variance)."""
    target_kl: Scheduled[Maybe[Positive]] = OFF
    """Stop an update early once the KL divergence from the policy that collected the rollout exceeds this, in
    nats. off: never."""
    kl_coef: Coefficient = Schedule.constant(0.0)
    """Weight of a penalty on the KL divergence from the policy that collected the rollout."""
    advantage_norm: Literal["minibatch", "rollout", "off"] = "minibatch"
    """Normalize advantages to mean 0 and standard deviation 1: per minibatch, over the whole rollout, or not
    at all."""

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        """Returns a batch size that does not fit a rollout of `n_envs` copies, as (field, message): larger
        than the rollout, or a single transition, whose normalized advantage would be 0."""
        # A schedule of n_steps changes the rollout: check the extremes.
        smallest, largest = (n_envs * int(of(self.n_steps)) for of in (lowest, highest))
        share = self.batch_size if isinstance(self.batch_size, Share) else None
        count = int(lowest(self.batch_size)) if share is None else share
        fewest = _minibatch_size(count, smallest)
        if self.advantage_norm == "minibatch" and fewest < 2:
            problem = f"{self.batch_size} is one transition per minibatch, whose normalized advantage is 0"
            return [("batch_size", f"{problem} (expected 2 or more, or algo.advantage_norm=off)")]
        if share is not None or highest(self.batch_size) <= largest:
            return []
        problem = f"is more than a rollout holds: {n_envs} envs x {self.n_steps} steps = {largest}"
        return [("batch_size", f"{self.batch_size} {problem} (or write a share: 25%)")]


def _minibatch_size(batch_size: int | Share, rollout_size: int) -> int:
    """Returns the number of transitions per minibatch: at least 1, and at most those of the rollout."""
    if isinstance(batch_size, Share):
        return max(1, round(batch_size * rollout_size))
    return min(batch_size, rollout_size)
