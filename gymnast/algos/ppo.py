"""Proximal policy optimization (Schulman et al., arXiv:1707.06347).

Each update takes several epochs of minibatch gradient steps on one rollout. The clipped surrogate
objective keeps the new policy close to the policy that collected the rollout.
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
        hparams: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """Trains the policy and the critic on one rollout and returns the metrics of the update.

        `hparams` are the hyperparameters of this update, with every schedule already evaluated.
        `stream` shuffles the minibatches.
        """
        # 1. Advantages by GAE, and the returns that the critic is trained on.
        advantage, returns, _ = self.credit(rollout, hparams)
        metrics = value_metrics(rollout, advantage, returns)

        # 2. PopArt, if enabled: rescale the critic's output layer before it is trained on new returns.
        rescale_value(self.policy, returns[rollout.valid])

        # 3. Epochs of shuffled minibatches. An epoch that ends with KL > target_kl is the last one.
        minibatch_size = hparams.minibatch_size(rollout.steps)
        plan = MinibatchPlan.shuffled(
            hparams.epochs, rollout.steps, minibatch_size, stream, hparams.target_kl
        )
        return metrics | policy_gradient_update(
            self.gradient_step,
            rollout,
            advantage,
            returns,
            objective(hparams),
            plan,
            hparams,
            max_gradient_steps,
        )

    def credit(self, rollout: Rollout, hparams: Any) -> Credit:
        """Returns the advantages, returns and values of each step, shape [T, N]."""
        return gae_credit(rollout, hparams)

    def state(self) -> dict[str, Any]:
        """Returns the training state for a checkpoint: the optimizer's. The policy is saved separately."""
        return self.gradient_step.state()

    def memory(self) -> dict[str, Any]:
        """Returns an empty dict: PPO is on-policy and has no replay buffer."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        self.gradient_step.load(state)


def objective(hparams: Any) -> Objective:
    """Returns the loss of each minibatch: clipped surrogate, value loss, entropy bonus, KL penalty."""
    return Objective(
        clip=hparams.clip,
        value_coef=hparams.value_coef,
        entropy_coef=hparams.entropy_coef,
        kl_coef=hparams.kl_coef,
        value_clip=hparams.value_clip,
        huber=hparams.value_loss == "huber",
        standardize=hparams.advantage_norm == "minibatch",
    )
