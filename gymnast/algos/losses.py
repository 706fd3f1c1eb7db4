"""The losses of PPO, A2C and REINFORCE as formulas.

Read this file to see what an update minimizes. Training does not run it: the native engine
(native/learning.hpp) and the torch engine (engine/torch/engine.py) compute the same losses faster, and
tests/algos/test_reference_losses.py compares the losses and gradients of both with these functions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gymnast.config.sections.a2c import A2CHyperparameters
from gymnast.config.sections.ppo import PPOHyperparameters
from gymnast.config.sections.reinforce import ReinforceHyperparameters


@dataclass(frozen=True)
class Minibatch:
    """The rows of a minibatch; every tensor is [B]."""

    # Functions of the parameters, through which the loss is differentiated:
    logprob: Tensor
    """Log-probability of the collected action."""
    entropy: Tensor
    """Entropy of the policy, in nats."""
    kl: Tensor
    """KL(old || new), exact; old is the policy that collected the rollout."""
    value: Tensor
    """Prediction of the critic, in its own units (normalized with PopArt)."""
    # Constants of the update:
    old_logprob: Tensor
    """Log-probability of the action when it was sampled."""
    old_value: Tensor
    """Value predicted when the action was sampled, in the critic's units."""
    advantage: Tensor
    """Advantage of the action. `advantage_norm: rollout` has been applied before the minibatches."""
    target: Tensor
    """Value target, in the critic's units."""


@dataclass(frozen=True)
class Losses:
    """The loss of a minibatch and its terms, without their coefficients."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
    kl: Tensor


def ppo_loss(batch: Minibatch, hparams: PPOHyperparameters) -> Losses:
    """Returns PPO's loss (arXiv:1707.06347, eq. 9, negated) with a penalty on the KL divergence (eq. 8)."""
    advantage = batch.advantage
    if hparams.advantage_norm == "minibatch":
        advantage = standardized(advantage)
    ratio = torch.exp(batch.logprob - batch.old_logprob)
    clipped = torch.clamp(ratio, 1 - hparams.clip, 1 + hparams.clip)
    policy = -torch.minimum(ratio * advantage, clipped * advantage).mean()

    error = value_error(batch.value - batch.target, hparams.value_loss)
    if hparams.value_clip is not None:
        change = torch.clamp(batch.value - batch.old_value, -hparams.value_clip, hparams.value_clip)
        clipped_error = value_error(batch.old_value + change - batch.target, hparams.value_loss)
        error = torch.maximum(error, clipped_error)
    value = error.mean()

    entropy, kl = batch.entropy.mean(), batch.kl.mean()
    total = (
        policy + hparams.value_coef * value - hparams.entropy_coef * entropy + hparams.kl_coef * kl
    )
    return Losses(total, policy, value, entropy, kl)


def a2c_loss(batch: Minibatch, hparams: A2CHyperparameters | ReinforceHyperparameters) -> Losses:
    """Returns the loss of A2C (arXiv:1602.01783): policy gradient, value loss and entropy bonus."""
    policy = -(batch.logprob * batch.advantage).mean()
    value = value_error(batch.value - batch.target, hparams.value_loss).mean()
    entropy = batch.entropy.mean()
    total = policy + hparams.value_coef * value - hparams.entropy_coef * entropy
    return Losses(total, policy, value, entropy, batch.kl.mean())


def reinforce_loss(batch: Minibatch, hparams: ReinforceHyperparameters) -> Losses:
    """Returns the loss of REINFORCE: that of A2C, whose critic is trained only if it is the baseline."""
    losses = a2c_loss(batch, hparams)
    if hparams.baseline == "learned":
        return losses
    total = losses.policy - hparams.entropy_coef * losses.entropy
    return Losses(total, losses.policy, torch.zeros(()), losses.entropy, losses.kl)


def value_error(distance: Tensor, kind: str) -> Tensor:
    """Returns the squared error of each row, or its Huber loss with the same curvature at 0: linear where the
    distance from the target is above 1."""
    if kind == "huber":
        return torch.where(distance.abs() < 1, distance**2, 2 * distance.abs() - 1)
    return distance**2


def standardized(advantage: Tensor) -> Tensor:
    """Returns advantages with mean 0 and standard deviation 1; zeros if they are all equal."""
    centered = advantage - advantage.mean()
    std = centered.square().mean().sqrt()
    return centered / std if std > 1e-8 else torch.zeros_like(advantage)
