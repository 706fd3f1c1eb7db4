"""Proximal policy optimisation (Schulman et al., arXiv:1707.06347).

Take several passes over each rollout, keeping the new policy near the one that acted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gymnast.algos.shift import shift
from gymnast.config.sections.ppo import PPOConfig
from gymnast.engine.torch.adam import Adam
from gymnast.engine.torch.distributions import distribution
from gymnast.engine.torch.losses import clipped_surrogate, value_loss
from gymnast.engine.torch.network import TorchNetwork
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import explained_variance, standardize
from gymnast.rollout import Rollout, minibatches


@dataclass(frozen=True)
class Batch:
    """Steps with their learning targets, [B, ...]."""

    features: Tensor
    action: Tensor
    logprob: Tensor
    dist: Tensor
    advantage: Tensor
    value: Tensor
    target: Tensor
    mask: Tensor | None

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, index: np.ndarray | slice) -> Batch:
        parts = (getattr(self, f.name) for f in fields(self))
        return Batch(*(None if part is None else part[index] for part in parts))  # type: ignore[arg-type]


class PPO:
    def __init__(self, policy: Policy, cfg: PPOConfig) -> None:
        self.policy, self.cfg = policy, cfg
        self.network = TorchNetwork(policy.network, policy.parameters)
        self.optimizer = Adam(
            policy.parameters.flat,
            self.network.gradient,
            eps=cfg.adam_eps,
            weight_decay=cfg.weight_decay,
        )
        self.last_lr: float | None = None

    def update(
        self, rollout: Rollout, values: Any, stream: np.random.Generator
    ) -> dict[str, float]:
        """Learn from one rollout. `values` are the hyperparameters as they stand now."""
        self._maybe_forget(values)
        advantage, target = rollout.advantages(values.gamma, values.gae_lambda)
        explained = explained_variance(rollout.value, target)
        self._rescale_value(target)
        batch = self._batch(rollout, advantage, target, values)
        size = values.minibatch(rollout.steps)

        before = self.policy.parameters.flat.copy()
        steps, epochs, stopped = [], 0, False
        while epochs < values.epochs and not stopped:
            for minibatch in minibatches(batch, size, stream):
                loss, parts = self.loss(minibatch, values)
                norm = self.optimizer.step(loss, lr=values.lr, max_norm=values.max_grad_norm)
                steps.append(torch.stack([loss.detach(), *parts, norm]))
            epochs += 1
            if values.target_kl is not None:
                stopped = self._shift(rollout, values)["policy/kl"] > values.target_kl

        total, policy_loss, critic_loss, penalty, value_clipped, norm = torch.stack(steps).unbind(1)
        limit = values.max_grad_norm
        return {
            **self._shift(rollout, values),
            **self._norms(before, float(norm[-1])),
            "loss/total": float(total.mean()),
            "policy/loss": float(policy_loss.mean()),
            "policy/kl_penalty": float(penalty.mean()),
            "value/loss": float(critic_loss.mean()),
            "value/clip_fraction": float(value_clipped.mean()),
            "value/explained_variance": explained,
            "value/mean": float(rollout.value.mean()),
            "value/std": float(rollout.value.std()),
            "value/target_mean": float(target.mean()),
            "value/target_std": float(target.std()),
            "advantage/mean": float(advantage.mean()),
            "advantage/std": float(advantage.std()),
            "advantage/min": float(advantage.min()),
            "advantage/max": float(advantage.max()),
            "optim/grad_norm": float(norm.mean()),
            "optim/clipped_share": 0.0 if limit is None else float((norm > limit).float().mean()),
            "optim/epochs": epochs,
            "optim/kl_stop": float(stopped),
            "optim/steps": len(steps),
        }

    def loss(self, batch: Batch, values: Any) -> tuple[Tensor, tuple[Tensor, ...]]:
        """What one minibatch minimises, and its parts."""
        output, value = self.network(batch.features)
        dist = distribution(self.policy.head, output, self.network.tensors, batch.mask)
        advantage = batch.advantage
        if values.advantage_norm == "minibatch":
            advantage = torch.from_numpy(standardize(advantage.numpy()))

        ratio = torch.exp(dist.logprob(batch.action) - batch.logprob)
        policy_loss = clipped_surrogate(ratio, advantage, values.clip)
        critic_loss, value_clipped = value_loss(
            value,
            batch.target,
            batch.value,
            clip=values.value_clip,
            huber=values.value_loss == "huber",
        )
        loss = policy_loss + values.value_coef * critic_loss
        if values.entropy_coef:
            loss = loss - values.entropy_coef * dist.entropy().mean()
        penalty = torch.zeros(())
        if values.kl_coef:
            penalty = dist.kl_from(batch.dist).mean()
            loss = loss + values.kl_coef * penalty
        return loss, tuple(x.detach() for x in (policy_loss, critic_loss, penalty, value_clipped))

    def state(self) -> dict[str, Any]:
        return {**self.optimizer.state(), "last_lr": self.last_lr}

    def load(self, state: dict[str, Any]) -> None:
        self.optimizer.load(state)
        self.last_lr = state["last_lr"]

    # ---- parts -------------------------------------------------------------------------------

    def _batch(
        self, rollout: Rollout, advantage: np.ndarray, target: np.ndarray, values: Any
    ) -> Batch:
        """Valid steps as tensors. Advantages and targets become float32 here and not before."""
        keep = rollout.valid.ravel()
        scale = self.policy.value_scale.normalized

        def flat(x: np.ndarray) -> np.ndarray:
            x = x.reshape(-1, *x.shape[2:])
            return x if keep.all() else x[keep]

        def floats(x: np.ndarray) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(flat(x), dtype=np.float32))

        if values.advantage_norm == "rollout":
            advantage = standardize(advantage)
        return Batch(
            features=torch.from_numpy(self.policy.features(flat(rollout.obs))),
            action=torch.from_numpy(flat(rollout.action)),
            logprob=floats(rollout.logprob),
            dist=floats(rollout.dist),
            advantage=floats(advantage),
            value=floats(scale(rollout.value)),
            target=floats(scale(target)),
            mask=None if rollout.mask is None else torch.from_numpy(flat(rollout.mask)),
        )

    def _shift(self, rollout: Rollout, values: Any) -> dict[str, float]:
        keep = rollout.valid
        mask = None if rollout.mask is None else rollout.mask[keep]
        columns = rollout.obs[keep], rollout.action[keep], rollout.dist[keep]
        return shift(self.policy, *columns, mask, values.clip)

    def _norms(self, before: np.ndarray, norm: float) -> dict[str, float]:
        """Sizes of parameters, of the whole update, and of the last gradient by part, as it was
        before clipping gave it the length it has now."""
        parameters = self.policy.parameters
        held = float(np.linalg.norm(self.network.gradient))
        gradient = self.network.gradient * (norm / held if held else 1.0)
        return {
            "optim/param_norm": float(np.linalg.norm(parameters.flat)),
            "optim/update_norm": float(np.linalg.norm(parameters.flat - before)),
            "optim/grad_norm_actor": float(np.linalg.norm(gradient[parameters.part("actor.")])),
            "optim/grad_norm_critic": float(np.linalg.norm(gradient[parameters.part("critic.")])),
        }

    def _rescale_value(self, target: np.ndarray) -> None:
        views, last = self.policy.parameters.views, len(self.policy.network.critic) - 1
        weight, bias = views[f"critic.{last}.weight"], views[f"critic.{last}.bias"]
        self.policy.value_scale.learn(target.ravel(), weight, bias)

    def _maybe_forget(self, values: Any) -> None:
        """Reset the optimiser where the learning rate jumped, if that is asked for."""
        factor, last, self.last_lr = values.reset_optimizer_on_lr_jump, self.last_lr, values.lr
        if (
            factor is not None
            and last
            and values.lr
            and not 1 / factor <= values.lr / last <= factor
        ):
            self.optimizer.reset()
