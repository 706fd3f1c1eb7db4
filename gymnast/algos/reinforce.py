"""REINFORCE (Williams 1992): make actions likelier by what followed them, from whole episodes.

A rollout holds the same number of finished episodes of every copy, so short ones weigh no more than
they should; steps of unfinished ones are not in it. An episode that was cut short counts as over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gymnast.algos.a2c import objective
from gymnast.algos.critic import about_values, rescale_value
from gymnast.algos.descent import Descent
from gymnast.algos.policy_gradient import follow
from gymnast.config.sections.reinforce import ReinforceConfig
from gymnast.engine.batch import Passes
from gymnast.policy.policy import Policy
from gymnast.rl.returns import Credit, episode_return, reward_to_go
from gymnast.rollout import Rollout


class Reinforce:
    def __init__(self, policy: Policy, cfg: ReinforceConfig) -> None:
        self.policy, self.descent = policy, Descent(policy)

    def update(
        self,
        rollout: Rollout,
        values: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """Learn from whole episodes. `values` are the hyperparameters as they stand now."""
        advantage, target, _ = self.credit(rollout, values)
        report = about_values(rollout, advantage, target)
        learned = values.baseline == "learned"
        if learned:
            rescale_value(self.policy, target[rollout.valid])
        else:  # nothing is asked of the critic, so nothing is said of it
            report = {name: x for name, x in report.items() if name.startswith("advantage/")}
        loss = replace(objective(values), critic=learned)
        passes = Passes.once(rollout.steps)
        given = rollout, advantage, target, loss, passes, values, max_gradient_steps
        return report | follow(self.descent, *given, has_baseline=values.baseline != "none")

    def credit(self, rollout: Rollout, values: Any) -> Credit:
        followed = reward_to_go if values.returns == "to_go" else episode_return
        returns = followed(rollout.reward, rollout.done, gamma=values.gamma)
        advantage = returns - self._baseline(rollout, returns, values.baseline)
        return Credit(advantage, returns, rollout.value if values.baseline == "learned" else None)

    def state(self) -> dict[str, Any]:
        return self.descent.state()

    def memory(self) -> dict[str, Any]:
        return {}

    def load(self, state: dict[str, Any]) -> None:
        self.descent.load(state)

    def _baseline(self, rollout: Rollout, target: np.ndarray, kind: str) -> np.ndarray | float:
        if kind == "learned":
            return rollout.value
        return float(target[rollout.valid].mean()) if kind == "batch" else 0.0
