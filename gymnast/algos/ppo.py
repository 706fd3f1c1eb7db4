"""Proximal policy optimisation (Schulman et al., arXiv:1707.06347).

Take several passes over each rollout, keeping the new policy near the one that acted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.critic import gae_credit, rescale_value, value_metrics
from gymnast.algos.optimizer import GradientStep
from gymnast.algos.policy_gradient import policy_gradient_update
from gymnast.config.sections.ppo import PPOConfig
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.objective import Objective
from gymnast.policy.policy import Policy
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout


class PPO:
    def __init__(self, policy: Policy, cfg: PPOConfig) -> None:
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
        n = rollout.steps
        size = values.minibatch(n)
        passes = MinibatchPlan.shuffled(values.epochs, n, size, stream, values.target_kl)
        learned = advantage, target, objective(values), passes, values, max_gradient_steps
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
    """What each minibatch minimises."""
    return Objective(
        clip=values.clip,
        value_coef=values.value_coef,
        entropy_coef=values.entropy_coef,
        kl_coef=values.kl_coef,
        value_clip=values.value_clip,
        huber=values.value_loss == "huber",
        standardize=values.advantage_norm == "minibatch",
    )
