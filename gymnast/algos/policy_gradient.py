"""The state, gradient steps and update metrics that PPO, A2C and REINFORCE share."""

from __future__ import annotations

import numpy as np

from gymnast.algos.algorithm import Algorithm, H
from gymnast.algos.optimizer import GradientStep, OptimizerState
from gymnast.config.section import AlgoSection
from gymnast.config.sections.gradient import GradientHyperparameters
from gymnast.engine.batch import Batch, MinibatchPlan
from gymnast.engine.engine import UpdateResult
from gymnast.engine.objective import LOSSES, Objective
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray


class OnPolicyAlgorithm(Algorithm[H]):
    """The part of PPO, A2C and REINFORCE outside `update`: a policy with its optimizer."""

    def __init__(self, policy: Policy, cfg: AlgoSection) -> None:
        # `cfg` is not stored: schedules and live settings change hyperparameters during training, so each
        # update receives its own in `hparams`.
        self.policy, self.gradient_step = policy, GradientStep(policy)

    def state(self) -> OptimizerState:
        """Returns the training state for a checkpoint: the optimizer's. The policy is saved separately."""
        return self.gradient_step.state()

    def memory(self) -> dict[str, object]:
        """Returns an empty dict: an on-policy algorithm has no replay buffer."""
        return {}

    def load(self, state: OptimizerState) -> None:
        """Restores what `state` returned."""
        self.gradient_step.load(state)


def policy_gradient_update(
    gradient_step: GradientStep,
    rollout: Rollout,
    advantage: Array,
    target: Array,
    objective: Objective,
    plan: MinibatchPlan,
    hparams: GradientHyperparameters,
    max_gradient_steps: int | None,
) -> dict[str, float]:
    """Minimizes the objective over the minibatches of the plan and returns the metrics of the update.

    `advantage` [T, N] weights the policy gradient, and `target` [T, N] is what the critic is trained to
    predict. At most `max_gradient_steps` are taken; None means no limit.
    """
    # 1. Flatten the valid steps [T, N] of the rollout to the rows [B] of a training batch.
    gradient_step.start_update(hparams)
    batch = Batch.from_rollout(gradient_step.policy, rollout, advantage, target)

    # 2. Take the gradient steps, in place on the parameters of the policy. A step limit that falls inside
    #    an epoch splits the plan: the full epochs, then part of one.
    engine, adam = gradient_step.engine, gradient_step.adam
    results: list[UpdateResult] = []
    for part in plan.limit_steps(max_gradient_steps):
        result = engine.update(
            batch, objective, part, adam, lr=hparams.lr, max_norm=hparams.max_grad_norm
        )
        results.append(result)
        if result.stopped_early:
            break

    # 3. Report mean losses, norms, and how far the whole update moved the policy.
    losses = np.concatenate([result.losses for result in results])  # [gradient steps, LOSSES]
    columns = [LOSSES.index(name) for name in objective.loss_names]
    gradient_step.record_losses(objective.loss_names, losses[:, columns])
    metrics = gradient_step.report(hparams) | engine.policy_shift(batch, objective.clip)
    metrics |= weighted_loss_terms(metrics, objective)
    if objective.clip is not None:  # PPO: the other algorithms always take one step
        metrics["optim/epochs"] = sum(result.epochs for result in results)
        metrics["optim/kl_stop"] = float(results[-1].stopped_early)
    return metrics


def weighted_loss_terms(metrics: dict[str, float], objective: Objective) -> dict[str, float]:
    """Returns the terms of the loss with their coefficients, so that they add up to loss/total.

    The entropy term is missing here because engines report it weighted, as loss/entropy.
    """
    terms = {"loss/policy": metrics["policy/loss"]}
    if objective.critic:
        terms["loss/value"] = objective.value_coef * metrics["value/loss"]
    if objective.clip is not None:
        terms["loss/kl"] = objective.kl_coef * metrics["policy/kl_penalty"]
    return terms
