"""REINFORCE (Williams 1992): make actions likelier by what followed them, from whole episodes.

A rollout holds the same number of finished episodes of every copy, so short ones weigh no more than
they should; steps of unfinished ones are not in it. An episode that was cut short counts as over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gymnast.algos.a2c import objective
from gymnast.algos.critic import rescale_value, value_metrics
from gymnast.algos.optimizer import GradientStep
from gymnast.algos.policy_gradient import policy_gradient_update
from gymnast.config.sections.reinforce import ReinforceConfig
from gymnast.engine.batch import MinibatchPlan
from gymnast.policy.policy import Policy
from gymnast.rl.returns import Credit, episode_return, reward_to_go
from gymnast.rollout import Rollout


class Reinforce:
    def __init__(self, policy: Policy, cfg: ReinforceConfig) -> None:
        self.policy, self.gradient_step = policy, GradientStep(policy)

    def update(
        self,
        rollout: Rollout,
        values: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """Learn from whole episodes. `values` are the hyperparameters as they stand now."""
        advantage, target, _ = self.credit(rollout, values)
        report = value_metrics(rollout, advantage, target)
        learned = values.baseline == "learned"
        if learned:
            rescale_value(self.policy, target[rollout.valid])
        else:  # nothing is asked of the critic, so nothing is said of it
            report = {name: x for name, x in report.items() if name.startswith("advantage/")}
        loss = replace(objective(values), critic=learned)
        passes = MinibatchPlan.single_batch(rollout.steps)
        given = rollout, advantage, target, loss, passes, values, max_gradient_steps
        return report | policy_gradient_update(
            self.gradient_step, *given, has_baseline=values.baseline != "none"
        )

    def credit(self, rollout: Rollout, values: Any) -> Credit:
        followed = reward_to_go if values.returns == "to_go" else episode_return
        returns = followed(rollout.reward, rollout.done, gamma=values.gamma)
        advantage = returns - self._baseline(rollout, returns, values.baseline)
        return Credit(advantage, returns, rollout.value if values.baseline == "learned" else None)

    def state(self) -> dict[str, Any]:
        return self.gradient_step.state()

    def memory(self) -> dict[str, Any]:
        return {}

    def load(self, state: dict[str, Any]) -> None:
        self.gradient_step.load(state)

    def _baseline(self, rollout: Rollout, target: np.ndarray, kind: str) -> np.ndarray | float:
        if kind == "learned":
            return rollout.value
        return float(target[rollout.valid].mean()) if kind == "batch" else 0.0
