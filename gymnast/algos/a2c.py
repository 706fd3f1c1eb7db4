"""Advantage actor-critic (Mnih et al., arXiv:1602.01783), synchronous: one step per rollout."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.critic import about_values, rescale_value
from gymnast.algos.descent import Descent
from gymnast.algos.policy_gradient import follow
from gymnast.config.sections.a2c import A2CConfig
from gymnast.engine.batch import Passes
from gymnast.engine.objective import Objective
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout


class A2C:
    def __init__(self, policy: Policy, cfg: A2CConfig) -> None:
        self.policy, self.descent = policy, Descent(policy, cfg)

    def update(
        self, rollout: Rollout, values: Any, stream: np.random.Generator
    ) -> dict[str, float]:
        """Learn from one rollout. `values` are the hyperparameters as they stand now."""
        advantage, target = rollout.advantages(values.gamma, values.gae_lambda)
        report = about_values(rollout, advantage, target)
        rescale_value(self.policy, target[rollout.valid])
        learned = advantage, target, objective(values), Passes.once(rollout.steps), values
        return report | follow(self.descent, rollout, *learned)

    def state(self) -> dict[str, Any]:
        return self.descent.state()

    def memory(self) -> dict[str, Any]:
        return {}

    def load(self, state: dict[str, Any]) -> None:
        self.descent.load(state)


def objective(values: Any) -> Objective:
    """What the one step minimises."""
    return Objective(
        clip=None,
        value_coef=values.value_coef,
        entropy_coef=values.entropy_coef,
        huber=values.value_loss == "huber",
    )
