"""The advantages and returns that each algorithm computes for a rollout, without its update."""

from __future__ import annotations

from gymnast.algos.critic import gae_credit
from gymnast.algos.reinforce import monte_carlo_credit
from gymnast.config.section import Hyperparameters
from gymnast.config.sections.a2c import A2CHyperparameters
from gymnast.config.sections.ppo import PPOHyperparameters
from gymnast.config.sections.reinforce import ReinforceHyperparameters
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout


def compute_credit(rollout: Rollout, hparams: Hyperparameters) -> Credit | None:
    """Returns what an update with these hyperparameters would compute for a rollout whose rewards are scaled
    already; None for algorithms without advantages, and for algorithms of the user."""
    match hparams:
        case PPOHyperparameters() | A2CHyperparameters():
            return gae_credit(rollout, hparams.gamma, hparams.gae_lambda)
        case ReinforceHyperparameters():
            return monte_carlo_credit(rollout, hparams)
        case _:
            return None
