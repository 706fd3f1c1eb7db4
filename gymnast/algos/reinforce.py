"""REINFORCE (Williams 1992): a Monte Carlo policy gradient on complete episodes.

A rollout holds the same number of finished episodes of every environment copy, so that short episodes
are not overrepresented; steps of unfinished episodes are not part of it. A truncated episode is
treated like a terminated one: there is no bootstrapping.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gymnast.algos.a2c import objective
from gymnast.algos.critic import rescale_value, value_metrics
from gymnast.algos.policy_gradient import OnPolicyAlgorithm, policy_gradient_update
from gymnast.engine.batch import MinibatchPlan
from gymnast.rl.returns import Credit, episode_return, reward_to_go
from gymnast.rollout import Rollout


class Reinforce(OnPolicyAlgorithm):
    """REINFORCE on one policy: computes returns, then takes one gradient step on complete episodes."""

    def update(
        self,
        rollout: Rollout,
        hparams: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """Takes one gradient step on complete episodes and returns the metrics of the update.

        `hparams` is the ReinforceConfig of this update, with a number in place of every schedule. `stream` is
        not used: there is nothing to shuffle. `max_gradient_steps`: at least 1, or None for no limit.
        """
        advantage, returns, _ = self.credit(rollout, hparams)
        metrics = value_metrics(rollout, advantage, returns)
        has_critic = hparams.baseline == "learned"
        if has_critic:
            rescale_value(self.policy, returns[rollout.valid])
        else:  # the critic is not trained, so metrics of its predictions would be meaningless
            metrics = {name: x for name, x in metrics.items() if name.startswith("advantage/")}
        return metrics | policy_gradient_update(
            self.gradient_step,
            rollout,
            advantage,
            returns,
            replace(objective(hparams), critic=has_critic),
            MinibatchPlan.single_batch(rollout.steps),
            hparams,
            max_gradient_steps,
            has_baseline=hparams.baseline != "none",
        )

    def credit(self, rollout: Rollout, hparams: Any) -> Credit:
        """Returns the advantages (returns minus the baseline) and the returns of each step, [T, N], and the
        values of the critic if it is the baseline, else None."""
        compute_returns = reward_to_go if hparams.returns == "to_go" else episode_return
        returns = compute_returns(rollout.reward, rollout.done, gamma=hparams.gamma)
        advantage = returns - self._baseline(rollout, returns, hparams.baseline)
        return Credit(advantage, returns, rollout.value if hparams.baseline == "learned" else None)

    def _baseline(self, rollout: Rollout, returns: np.ndarray, kind: str) -> np.ndarray | float:
        """Returns the baseline that is subtracted from the returns [T, N] to reduce their variance.

        `kind` is "learned" (the critic's values), "batch" (the mean return of the rollout) or "none".
        """
        if kind == "learned":
            return rollout.value
        return float(returns[rollout.valid].mean()) if kind == "batch" else 0.0
