"""REINFORCE (Williams 1992): a Monte Carlo policy gradient on complete episodes.

A rollout holds the same number of finished episodes of every environment copy, so that short episodes
are not overrepresented; steps of unfinished episodes are not part of it. A truncated episode is
treated like a terminated one: there is no bootstrapping.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gymnast.algos import a2c
from gymnast.algos.algorithm import AlgorithmUpdate
from gymnast.algos.critic import rescale_value, standardize_advantage, value_metrics
from gymnast.algos.policy_gradient import OnPolicyAlgorithm, policy_gradient_update
from gymnast.config.sections.reinforce import ReinforceHyperparameters
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.objective import Objective
from gymnast.rl.returns import Credit, episode_return, reward_to_go
from gymnast.rollout import Rollout


class Reinforce(OnPolicyAlgorithm[ReinforceHyperparameters]):
    """REINFORCE on one policy: computes returns, then takes one gradient step on complete episodes."""

    def update(
        self,
        rollout: Rollout,
        hparams: ReinforceHyperparameters,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> AlgorithmUpdate:
        """Takes one gradient step on complete episodes.

        `stream` is not used: there is nothing to shuffle. `max_gradient_steps`: at least 1, or None for no
        limit.
        """
        credit = monte_carlo_credit(rollout, hparams)
        advantage, returns = credit.advantage, credit.returns
        metrics = value_metrics(rollout, advantage, returns)
        if hparams.baseline == "learned":
            rescale_value(self.policy, returns[rollout.valid])
        else:  # the critic is not trained, so metrics of its predictions would be meaningless
            metrics = {name: x for name, x in metrics.items() if name.startswith("advantage/")}
        if hparams.advantage_norm == "rollout":
            # Without a baseline they are only scaled: subtracting their mean would be a baseline.
            centered = hparams.baseline != "off"
            advantage = standardize_advantage(advantage, rollout.valid, centered=centered)
        metrics |= policy_gradient_update(
            self.gradient_step,
            rollout,
            advantage,
            returns,
            objective(hparams),
            MinibatchPlan.single_batch(rollout.steps),
            hparams,
            max_gradient_steps,
        )
        return AlgorithmUpdate(metrics, credit)


def objective(hparams: ReinforceHyperparameters) -> Objective:
    """Describes the loss of the rollout: that of A2C, whose critic is trained only if it is the baseline."""
    return replace(a2c.objective(hparams), critic=hparams.baseline == "learned")


def monte_carlo_credit(rollout: Rollout, hparams: ReinforceHyperparameters) -> Credit:
    """Returns the advantages (returns minus the baseline) and the returns of each step, [T, N], and the
    values of the critic if it is the baseline, else None."""
    compute_returns = reward_to_go if hparams.returns == "to_go" else episode_return
    returns = compute_returns(rollout.reward, rollout.done, gamma=hparams.gamma)
    # A baseline reduces the variance of the gradient without changing its mean.
    if hparams.baseline == "learned":
        return Credit(returns - rollout.value, returns, rollout.value)
    baseline = float(returns[rollout.valid].mean()) if hparams.baseline == "batch" else 0.0
    return Credit(returns - baseline, returns, None)
