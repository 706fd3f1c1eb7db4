"""Hyperparameters of deep Q-learning, DQN (Mnih et al. 2015)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from gymnast.config.numbers import Count, Switch, quote_value
from gymnast.config.schedule import Schedule, highest, is_schedule_text
from gymnast.config.scheduled import Scheduled
from gymnast.config.sections.gradient import Coefficient, GradientHyperparameters, GradientSection


def _allocated_once(value: object) -> object:
    if isinstance(value, Mapping) or (isinstance(value, str) and is_schedule_text(value)):
        problem = "the replay buffer is allocated once, so its size cannot follow a schedule"
        raise ValueError(f"{quote_value(value)}: {problem} (expected one whole number)")
    return value


@dataclass(frozen=True, kw_only=True)
class DQNHyperparameters(GradientHyperparameters):
    """The values of a DQNConfig at one rollout."""

    n_steps: int
    gradient_steps: int
    batch_size: int
    replay: int
    warmup: int
    epsilon: float
    target_every: int
    double: bool


class DQNConfig(GradientSection):
    hyperparameters = DQNHyperparameters
    LIVE = ("double",)
    action_selection: ClassVar[Literal["sample", "epsilon_greedy"]] = "epsilon_greedy"
    native = False
    METRICS: ClassVar[dict[str, dict[str, object]]] = {
        "value/td_error": {
            "description": "Mean absolute TD error: distance of Q(s, a) from its one-step target.",
            "digits": 4,
            "better": "lower",
            "priority": 4,
            "window": "the gradient steps of this update",
            "bounds": (0, float("inf")),
            "in_table": True,
        },
        "value/q": {
            "description": "Mean Q value of the sampled actions.",
            "digits": 2,
            "priority": 5,
            "window": "the gradient steps of this update",
            "no_bounds_reason": "its scale depends on the rewards",
            "in_table": True,
        },
        "optim/replay": {
            "description": "Transitions in the replay buffer.",
            "digits": 0,
            "priority": 8,
            "bounds": (0, float("inf")),
        },
    }

    tolerates_stale_policy = True
    async_obstacle = "its replay buffer needs the steps of every env copy in order, without gaps"
    name: Literal["dqn"] = "dqn"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    n_steps: Scheduled[Count] = 32
    """Steps that each env copy takes between updates."""
    gradient_steps: Scheduled[Annotated[Count, Field(le=1_000_000)]] = 128
    """Gradient steps per update."""
    batch_size: Scheduled[Annotated[Count, Field(le=1_000_000)]] = 64
    """Transitions sampled from the replay buffer per gradient step."""
    replay: Annotated[Count, BeforeValidator(_allocated_once)] = 50_000
    """Size of the replay buffer in transitions; the oldest are overwritten first."""
    warmup: Scheduled[Count] = 1_000
    """Transitions to collect before the first gradient step."""
    epsilon: Coefficient = Schedule.parse("1 -> 0.05 @ 0..10k")
    """Probability of a random action while collecting (epsilon-greedy)."""
    target_every: Scheduled[Count] = 128
    """Gradient steps between two copies of the weights into the target network."""
    double: Switch = True
    """Double DQN: the online network chooses the next action, the target network evaluates it."""

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        """Returns settings that contradict each other, as (field, message): an epsilon above 1, or a replay
        buffer that is smaller than the warm-up or one rollout of `n_envs` copies."""
        conflicts: list[tuple[str, str]] = []
        if self.epsilon.highest > 1:
            conflicts.append(("epsilon", f"{self.epsilon} rises above 1 (expected a probability)"))
        # With a smaller buffer, the warm-up would never end, or a rollout would overwrite itself.
        if self.replay < max(highest(self.warmup), n_envs * highest(self.n_steps)):
            problem = "is less than algo.warmup or one rollout"
            conflicts.append(
                ("replay", f"{self.replay} {problem} ({n_envs} envs x {self.n_steps} steps)")
            )
        return conflicts
