"""Proximal policy optimization (Schulman et al., arXiv:1707.06347).

Each update takes several epochs of minibatch gradient steps on one rollout. The clipped surrogate
objective keeps the new policy close to the policy that collected the rollout.
"""

from __future__ import annotations

import numpy as np

from gymnast.algos.algorithm import AlgorithmUpdate
from gymnast.algos.critic import gae_credit, rescale_value, standardize_advantage, value_metrics
from gymnast.algos.policy_gradient import OnPolicyAlgorithm, policy_gradient_update
from gymnast.config.sections.ppo import PPOHyperparameters
from gymnast.engine.batch import MinibatchPlan, learning_units
from gymnast.engine.objective import Objective
from gymnast.rollout import Rollout


class PPO(OnPolicyAlgorithm[PPOHyperparameters]):
    """PPO on one policy: computes advantages, then optimizes the clipped objective in minibatches."""

    def update(
        self,
        rollout: Rollout,
        hparams: PPOHyperparameters,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> AlgorithmUpdate:
        """Trains the policy and the critic on one rollout.

        `stream` shuffles the minibatches. At most `max_gradient_steps` are taken, what is left of the budget
        `stop.updates`; None means no limit.
        """
        # 1. Compute advantages by GAE, and the returns that the critic is trained on, each [T, N], in reward
        #    units. They stay fixed for all epochs, as in the paper.
        credit = gae_credit(rollout, hparams.gamma, hparams.gae_lambda)
        advantage, returns = credit.advantage, credit.returns
        metrics = value_metrics(rollout, advantage, returns)
        if hparams.advantage_norm == "rollout":  # the engine normalizes them per minibatch
            advantage = standardize_advantage(advantage, rollout.valid)

        # 2. If PopArt is on, update its statistics with these returns, and rescale the critic's last layer
        #    so that its predictions stay the same. The gradient steps use the new statistics.
        rescale_value(self.policy, returns[rollout.valid])

        # 3. Take gradient steps on minibatches, reshuffled in every epoch. The KL is measured after each
        #    epoch: if it exceeds `target_kl`, no further epoch is run. `rollout.steps` counts the valid steps
        #    of all copies. With memory, a minibatch consists of whole sequences.
        units, steps = learning_units(rollout), rollout.steps
        size = max(1, round(hparams.minibatch_size(steps) * units / steps))
        plan = MinibatchPlan.shuffled(hparams.epochs, units, size, stream, hparams.target_kl)
        metrics |= policy_gradient_update(
            self.gradient_step,
            rollout,
            advantage,
            returns,
            objective(hparams),
            plan,
            hparams,
            max_gradient_steps,
        )
        return AlgorithmUpdate(metrics, credit)


def objective(hparams: PPOHyperparameters) -> Objective:
    """Describes the loss of a minibatch: clipped surrogate, value loss, entropy bonus, KL penalty."""
    return Objective(
        clip=hparams.clip,
        # The squared value loss has no factor 1/2. Implementations that have it need a coefficient twice as
        # large for the same loss.
        value_coef=hparams.value_coef,
        entropy_coef=hparams.entropy_coef,
        kl_coef=hparams.kl_coef,
        value_clip=hparams.value_clip,
        huber=hparams.value_loss == "huber",
        # "rollout" is applied before, in `PPO.update`
        standardize=hparams.advantage_norm == "minibatch",
    )
