"""Proximal policy optimisation (Schulman et al., arXiv:1707.06347).

Take several passes over each rollout, keeping the new policy near the one that acted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from gymnast.algos.batch import Batch
from gymnast.algos.critic import about_values, rescale_value, standardized
from gymnast.algos.descent import Descent
from gymnast.algos.shift import shift
from gymnast.config.sections.ppo import PPOConfig
from gymnast.engine.torch.distributions import distribution
from gymnast.engine.torch.losses import clipped_surrogate, value_loss
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import standardize
from gymnast.rollout import Rollout, minibatches


class PPO:
    def __init__(self, policy: Policy, cfg: PPOConfig) -> None:
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
        size = values.minibatch(len(batch))

        epochs, stopped = 0, False
        while epochs < values.epochs and not stopped:
            for minibatch in minibatches(batch, size, stream):
                self.descent.step(*self.loss(minibatch, values), values)
            epochs += 1
            if values.target_kl is not None:
                stopped = shift(self.policy, rollout)["policy/kl"] > values.target_kl

        report |= self.descent.report(values) | shift(self.policy, rollout, values.clip)
        return report | {"optim/epochs": epochs, "optim/kl_stop": float(stopped)}

    def loss(self, batch: Batch, values: Any) -> tuple[Tensor, dict[str, Tensor]]:
        """What one minibatch minimises, and its parts."""
        network = self.descent.network
        output, value = network(batch.features)
        dist = distribution(self.policy.head, output, network.tensors, batch.mask)
        advantage = batch.advantage
        if values.advantage_norm == "minibatch":
            advantage = torch.from_numpy(standardize(advantage.numpy()))

        ratio = torch.exp(dist.logprob(batch.action) - batch.logprob)
        policy_loss = clipped_surrogate(ratio, advantage, values.clip)
        critic_loss, value_clipped = value_loss(
            value,
            batch.target,
            batch.value,
            clip=values.value_clip,
            huber=values.value_loss == "huber",
        )
        loss = policy_loss + values.value_coef * critic_loss
        if values.entropy_coef:
            loss = loss - values.entropy_coef * dist.entropy().mean()
        penalty = torch.zeros(())
        if values.kl_coef:
            penalty = dist.kl_from(batch.dist).mean()
            loss = loss + values.kl_coef * penalty
        return loss, {
            "policy/loss": policy_loss,
            "value/loss": critic_loss,
            "policy/kl_penalty": penalty,
            "value/clip_fraction": value_clipped,
        }

    def state(self) -> dict[str, Any]:
        return self.descent.state()

    def load(self, state: dict[str, Any]) -> None:
        self.descent.load(state)
