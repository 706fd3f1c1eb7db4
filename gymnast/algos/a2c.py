"""Advantage actor-critic (Mnih et al., arXiv:1602.01783), synchronous: one step per rollout."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.critic import gae_credit, rescale_value, value_metrics
from gymnast.algos.optimizer import GradientStep
from gymnast.algos.policy_gradient import policy_gradient_update
from gymnast.config.sections.a2c import A2CConfig
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.objective import Objective
from gymnast.policy.policy import Policy
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout


class A2C:
    def __init__(self, policy: Policy, cfg: A2CConfig) -> None:
        self.policy, self.gradient_step = policy, GradientStep(policy)

    def update(
        self,
        rollout: Rollout,
        values: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """Learn from one rollout. `values` are the hyperparameters as they stand now."""
        advantage, target, _ = self.credit(rollout, values)
        report = value_metrics(rollout, advantage, target)
        rescale_value(self.policy, target[rollout.valid])
        passes, loss = MinibatchPlan.single_batch(rollout.steps), objective(values)
        learned = advantage, target, loss, passes, values, max_gradient_steps
        return report | policy_gradient_update(self.gradient_step, rollout, *learned)

    def credit(self, rollout: Rollout, values: Any) -> Credit:
        return gae_credit(rollout, values)

    def state(self) -> dict[str, Any]:
        return self.gradient_step.state()

    def memory(self) -> dict[str, Any]:
        return {}

    def load(self, state: dict[str, Any]) -> None:
        self.gradient_step.load(state)


def objective(values: Any) -> Objective:
    """What the one step minimises."""
    return Objective(
        clip=None,
        value_coef=values.value_coef,
        entropy_coef=values.entropy_coef,
        huber=values.value_loss == "huber",
    )
