"""Synchronous advantage actor-critic (Mnih et al., arXiv:1602.01783): one gradient step per rollout."""

from __future__ import annotations

import numpy as np

from gymnast.algos.algorithm import AlgorithmUpdate
from gymnast.algos.critic import (
    gae_credit,
    importance_weighted,
    rescale_value,
    standardize_advantage,
    value_metrics,
)
from gymnast.algos.policy_gradient import OnPolicyAlgorithm, policy_gradient_update
from gymnast.config.sections.a2c import A2CHyperparameters
from gymnast.config.sections.reinforce import ReinforceHyperparameters
from gymnast.engine.batch import MinibatchPlan, learning_units
from gymnast.engine.objective import Objective
from gymnast.rollout import Rollout


class A2C(OnPolicyAlgorithm[A2CHyperparameters]):
    """A2C on one policy: computes advantages, then takes one gradient step on the whole rollout."""

    def update(
        self,
        rollout: Rollout,
        hparams: A2CHyperparameters,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> AlgorithmUpdate:
        """Takes one gradient step on the whole rollout.

        `stream` is not used: there is nothing to shuffle. `max_gradient_steps`: at least 1, or None for no
        limit.
        """
        credit = gae_credit(rollout, hparams.gamma, hparams.gae_lambda)
        advantage, returns = credit.advantage, credit.returns
        metrics = value_metrics(rollout, advantage, returns)
        if hparams.advantage_norm == "rollout":
            advantage = standardize_advantage(advantage, rollout.valid)
        # After the normalization: only a baseline inside of the weight leaves the gradient unbiased.
        advantage = importance_weighted(advantage, rollout)
        # before the gradient step, whose value targets are normalized with the new PopArt statistics
        rescale_value(self.policy, returns[rollout.valid])
        metrics |= policy_gradient_update(
            self.gradient_step,
            rollout,
            advantage,
            returns,
            objective(hparams),
            MinibatchPlan.single_batch(learning_units(rollout)),
            hparams,
            max_gradient_steps,
        )
        return AlgorithmUpdate(metrics, credit)


def objective(hparams: A2CHyperparameters | ReinforceHyperparameters) -> Objective:
    """Describes the loss of the rollout: the plain policy gradient, the value loss and the entropy bonus."""
    return Objective(
        # the only step starts where every ratio is 1, or the advantages are weighted by it
        clip=None,
        value_coef=hparams.value_coef,
        entropy_coef=hparams.entropy_coef,
        huber=hparams.value_loss == "huber",
    )
