"""Synchronous advantage actor-critic (Mnih et al., arXiv:1602.01783): one gradient step per rollout."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.critic import rescale_value, value_metrics
from gymnast.algos.policy_gradient import OnPolicyAlgorithm, policy_gradient_update
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.objective import Objective
from gymnast.rollout import Rollout


class A2C(OnPolicyAlgorithm):
    """A2C on one policy: computes advantages, then takes one gradient step on the whole rollout."""

    def update(
        self,
        rollout: Rollout,
        hparams: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """Takes one gradient step on the whole rollout and returns the metrics of the update.

        `hparams` is the A2CConfig of this update, with a number in place of every schedule. `stream` is not
        used: there is nothing to shuffle. `max_gradient_steps`: at least 1, or None for no limit.
        """
        advantage, returns, _ = self.credit(rollout, hparams)
        metrics = value_metrics(rollout, advantage, returns)
        # before the gradient step, whose value targets are normalized with the new PopArt statistics
        rescale_value(self.policy, returns[rollout.valid])
        return metrics | policy_gradient_update(
            self.gradient_step,
            rollout,
            advantage,
            returns,
            objective(hparams),
            MinibatchPlan.single_batch(rollout.steps),
            hparams,
            max_gradient_steps,
        )


def objective(hparams: Any) -> Objective:
    """Describes the loss of the rollout: the plain policy gradient, the value loss and the entropy bonus."""
    return Objective(
        clip=None,  # the only step starts at the collecting policy, where every ratio is 1
        value_coef=hparams.value_coef,
        entropy_coef=hparams.entropy_coef,
        huber=hparams.value_loss == "huber",
    )
