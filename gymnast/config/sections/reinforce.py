"""What can be set of REINFORCE (Williams 1992): learning from whole episodes."""

from __future__ import annotations

from typing import Annotated, Literal

from gymnast.config.applies import WITH_A_CRITIC
from gymnast.config.numbers import OFF, Count, Maybe
from gymnast.config.schedule import Schedule
from gymnast.config.scheduled import Scheduled
from gymnast.config.section import Span
from gymnast.config.sections.gradient import Coefficient, GradientSection


class ReinforceConfig(GradientSection):
    LIVE = ("returns", "baseline", "advantage_norm", "value_loss")
    bootstraps = False
    name: Literal["reinforce"] = "reinforce"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    episodes: Scheduled[Count] = 1
    """Whole episodes each environment copy contributes to an update; then it waits for the others."""
    n_steps: Scheduled[Maybe[Count]] = OFF
    """Vector steps after which an update comes anyway; unfinished episodes go on into the next. The
    fewer, the more updates see short episodes only."""
    returns: Literal["to_go", "episode"] = "to_go"
    """What an action is credited with: the rewards that follow it, or all of its episode's."""
    baseline: Literal["none", "batch", "learned"] = "learned"
    """What is subtracted from a return: nothing, the mean of the batch, or the critic's estimate."""
    advantage_norm: Literal["rollout", "off"] = "rollout"
    """Over what returns less baseline are brought to mean 0 and deviation 1. Without a baseline they are
    divided by their root mean square only: subtracting the mean would be one."""
    entropy_coef: Coefficient = Schedule.constant(0.0)
    """Weight of the entropy bonus."""
    value_coef: Annotated[Coefficient, WITH_A_CRITIC] = Schedule.constant(0.5)
    """Weight of the value loss, with a learned baseline."""
    value_loss: Annotated[Literal["mse", "huber"], WITH_A_CRITIC] = "mse"
    """Shape of the value loss."""

    def span(self) -> Span:
        steps, episodes = self.n_steps, self.episodes
        assert not isinstance(steps, Schedule)
        assert not isinstance(episodes, Schedule)
        return Span(steps, episodes)

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        if self.returns == "episode" and self.baseline == "learned":
            problem = "the critic learns rewards to come, which an episode's return is not"
            return [("baseline", f"learned: {problem} (set algo.returns=to_go, or baseline=batch)")]
        return []
