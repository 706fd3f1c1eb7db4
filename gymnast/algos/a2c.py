"""Advantage actor-critic (Mnih et al., arXiv:1602.01783), synchronous: one step per rollout."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.batch import Batch
from gymnast.algos.critic import about_values, rescale_value, standardized
from gymnast.algos.descent import Descent
from gymnast.algos.shift import shift
from gymnast.config.sections.a2c import A2CConfig
from gymnast.engine.torch.distributions import distribution
from gymnast.engine.torch.losses import value_loss
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
        self.descent.begin(values)
        if values.advantage_norm == "rollout":
            advantage = standardized(advantage, rollout.valid)
        batch = Batch.of(self.policy, rollout, advantage, target)

        network = self.descent.network
        output, value = network(batch.features)
        dist = distribution(self.policy.head, output, network.tensors, batch.mask)
        policy_loss = -(dist.logprob(batch.action) * batch.advantage).mean()
        critic_loss, _ = value_loss(
            value, batch.target, batch.value, clip=None, huber=values.value_loss == "huber"
        )
        loss = policy_loss + values.value_coef * critic_loss
        if values.entropy_coef:
            loss = loss - values.entropy_coef * dist.entropy().mean()
        self.descent.step(loss, {"policy/loss": policy_loss, "value/loss": critic_loss}, values)
        return report | self.descent.report(values) | shift(self.policy, rollout)

    def state(self) -> dict[str, Any]:
        return self.descent.state()

    def load(self, state: dict[str, Any]) -> None:
        self.descent.load(state)
