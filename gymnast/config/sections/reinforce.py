"""Hyperparameters of REINFORCE (Williams 1992), which learns from whole episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator

from gymnast.config.applies import WITH_A_CRITIC
from gymnast.config.numbers import OFF, Count, Maybe
from gymnast.config.schedule import Schedule
from gymnast.config.scheduled import Scheduled
from gymnast.config.section import RolloutLength
from gymnast.config.sections.gradient import Coefficient, GradientHyperparameters, GradientSection


@dataclass(frozen=True, kw_only=True)
class ReinforceHyperparameters(GradientHyperparameters):
    """The values of a ReinforceConfig at one rollout."""

    episodes: int
    returns: Literal["to_go", "episode"]
    baseline: Literal["off", "batch", "learned"]
    advantage_norm: Literal["rollout", "off"]
    entropy_coef: float
    value_coef: float
    value_loss: Literal["mse", "huber"]

    def rollout_length(self) -> RolloutLength:
        """Returns the number of complete episodes, and the limit of vector steps."""
        return RolloutLength(self.n_steps, self.episodes)


class ReinforceConfig(GradientSection):
    hyperparameters = ReinforceHyperparameters
    LIVE = ("returns", "baseline", "advantage_norm", "value_loss")
    bootstraps = False
    async_obstacle = "it learns from the returns of whole episodes, which V-trace does not correct"
    name: Literal["reinforce"] = "reinforce"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    episodes: Scheduled[Count] = 1
    """Complete episodes that each env copy contributes to an update; a copy that is done waits for the
    others."""
    n_steps: Scheduled[Maybe[Count]] = OFF
    """Maximum number of vector steps between updates. Unfinished episodes continue and count for a later
    update, so a low limit biases updates toward short episodes. off: no limit."""
    returns: Literal["to_go", "episode"] = "to_go"
    """Return that weights an action's log-probability: the rewards that follow it (to_go), or all rewards of
    its episode (episode)."""
    baseline: Annotated[
        Literal["off", "batch", "learned"],
        BeforeValidator(lambda value: "off" if value == "none" else value),
    ] = "learned"
    """Baseline subtracted from the returns: none (off; `none` means the same), the batch mean, or a learned
    critic."""
    advantage_norm: Literal["rollout", "off"] = "rollout"
    """Normalize returns minus baseline to mean 0 and standard deviation 1 over the rollout. With
    `baseline: off` they are only divided by their root mean square, because subtracting the mean would be
    a baseline."""
    entropy_coef: Coefficient = Schedule.constant(0.0)
    """Weight of the entropy bonus."""
    value_coef: Annotated[Coefficient, WITH_A_CRITIC] = Schedule.constant(0.5)
    """Weight of the value loss; for the learned baseline only."""
    value_loss: Annotated[Literal["mse", "huber"], WITH_A_CRITIC] = "mse"
    """Shape of the value loss."""

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        """Returns a learned baseline that does not fit `returns`, as (field, message)."""
        # A baseline is unbiased for any target, but one that predicts another quantity may add variance.
        if self.returns == "episode" and self.baseline == "learned":
            problem = "the critic predicts the reward-to-go, not the return of the whole episode"
            return [("baseline", f"learned: {problem} (set algo.returns=to_go, or baseline=batch)")]
        return []
