"""What can be set of deep Q-learning (Mnih et al. 2015)."""

from __future__ import annotations

from typing import ClassVar, Literal

from gymnast.config.numbers import Count, Switch
from gymnast.config.schedule import Schedule
from gymnast.config.sections.gradient import Coefficient, GradientSection


class DQNConfig(GradientSection):
    LIVE = (
        *GradientSection.LIVE,
        "n_steps",
        "gradient_steps",
        "batch_size",
        "warmup",
        "target_every",
        "double",
    )
    acts: ClassVar[Literal["sample", "epsilon_greedy"]] = "epsilon_greedy"
    native = False
    METRICS: ClassVar[dict[str, dict[str, object]]] = {
        "value/td_error": {
            "description": "Mean distance of an action's value from its one-step target.",
            "digits": 4,
            "better": "lower",
            "priority": 4,
            "window": "the gradient steps of this update",
            "bounds": (0, float("inf")),
            "in_table": True,
        },
        "value/q": {
            "description": "Mean value of the actions learned from.",
            "digits": 2,
            "priority": 5,
            "window": "the gradient steps of this update",
            "no_bounds_reason": "as large as rewards and critic make it",
            "in_table": True,
        },
        "optim/replay": {
            "description": "Steps in the replay memory.",
            "digits": 0,
            "priority": 8,
            "bounds": (0, float("inf")),
        },
    }

    bears_lag = True
    name: Literal["dqn"] = "dqn"  # pyright: ignore[reportIncompatibleVariableOverride]
    """The algorithm."""
    n_steps: Count = 32
    """Steps each environment copy takes between updates."""
    gradient_steps: Count = 128
    """Gradient steps per update."""
    batch_size: Count = 64
    """Remembered steps per gradient step."""
    replay: Count = 50_000
    """Steps that are remembered; the oldest go first."""
    warmup: Count = 1_000
    """Steps to remember before learning begins."""
    epsilon: Coefficient = Schedule.parse("1 -> 0.05 @ 0..10k")
    """Share of actions taken at random while collecting."""
    target_every: Count = 128
    """Gradient steps between copies of the network into the one that gives targets."""
    double: Switch = True
    """Let the learning network choose the action whose value the target network gives."""

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        if self.epsilon.highest > 1:
            found.append(("epsilon", f"{self.epsilon} rises above 1 (expected a share)"))
        if self.replay < max(self.warmup, n_envs * self.n_steps):
            problem = "is less than algo.warmup or one rollout"
            found.append(
                ("replay", f"{self.replay} {problem} ({n_envs} envs x {self.n_steps} steps)")
            )
        return found
