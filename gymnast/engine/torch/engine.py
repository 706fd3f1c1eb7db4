"""The torch engine: updates by autograd, for any network and device.

Both engines are tested against the formulas in algos/losses.py.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.adam import Adam
from gymnast.engine.batch import Batch, MinibatchPlan, monitoring_rows
from gymnast.engine.engine import Engine, UpdateResult
from gymnast.engine.objective import LOSSES, Objective
from gymnast.engine.torch import shares
from gymnast.engine.torch.adam import adamw_step
from gymnast.engine.torch.distributions import distribution
from gymnast.engine.torch.losses import clipped_surrogate, value_loss
from gymnast.engine.torch.network import TorchNetwork
from gymnast.engine.torch.rows import RowReader, row_reader
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import standardize


class TorchEngine(Engine):
    """Implements `Engine` with autograd."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.network = TorchNetwork(policy.network, policy.parameters)
        self.networks = [self.network]
        """One network per share of a minibatch: the same parameters, each with its own gradient."""
        self.gradient = self.network.gradient

    def update(
        self,
        batch: Batch,
        objective: Objective,
        plan: MinibatchPlan,
        adam: Adam,
        *,
        lr: float,
        max_norm: float | None,
    ) -> UpdateResult:
        """Takes the gradient steps of the plan, see `Engine.update`."""
        losses: list[Tensor] = []  # per gradient step; converted together at the end
        epochs, stopped = 0, False
        features = row_reader(self.policy.network, batch.features)
        while epochs < len(plan.orders) and not stopped:
            for minibatch in plan.minibatches(plan.orders[epochs]):
                parts = self.differentiate(features, batch, minibatch, objective)
                norm = self.optimizer_step(adam, lr=lr, max_norm=max_norm)
                losses.append(torch.stack([*parts, norm]))
            epochs += 1
            # Over all monitoring rows, not only the last minibatch, whose KL would be noisier.
            if plan.target_kl is not None:
                stopped = self.policy_shift(batch, None)["policy/kl"] > plan.target_kl
        return UpdateResult(torch.stack(losses).double().numpy(), epochs, stopped)

    def step(self, loss: Tensor, adam: Adam, *, lr: float, max_norm: float | None) -> Tensor:
        """Takes one gradient step on any loss of `network` and returns the gradient norm before clipping."""
        self.network.differentiate(loss)
        return self.optimizer_step(adam, lr=lr, max_norm=max_norm)

    def optimizer_step(self, adam: Adam, *, lr: float, max_norm: float | None) -> Tensor:
        """Clips `gradient`, takes one AdamW step, and returns the gradient norm before clipping."""
        return adamw_step(
            self.policy.parameters.flat, self.gradient, adam, lr=lr, max_norm=max_norm
        )

    def differentiate(
        self, features: RowReader, batch: Batch, minibatch: np.ndarray, objective: Objective
    ) -> Tensor:
        """Computes the gradient of the loss of a minibatch (row indices) into `gradient`. `features` reads
        features by row index.

        Returns all LOSSES except the gradient norm. Each loss is a mean over rows, so every share is weighted
        by its number of rows. Shares are summed in a fixed order: the bits do not depend on which thread
        finishes first.
        """
        advantage = batch.advantage[minibatch]
        if objective.standardize:  # over the minibatch, before it is divided into shares
            advantage = standardize(advantage)
        spans = shares.split_rows(len(minibatch))
        while len(self.networks) < len(spans):  # created once, on first use
            self.networks.append(TorchNetwork(self.policy.network, self.policy.parameters))
        networks = self.networks[: len(spans)]

        def share_losses(share: tuple[TorchNetwork, slice]) -> Tensor:
            """Computes the gradient of one share into its network and returns its weighted losses."""
            network, span = share
            rows = minibatch[span]
            weight = len(rows) / len(minibatch)
            parts = self.losses(network, features, batch, rows, advantage[span], objective)
            network.differentiate(parts[0] * weight)
            return torch.stack([part.detach() for part in parts]) * weight

        losses = shares.run_parallel(share_losses, list(zip(networks, spans, strict=True)))
        # `gradient` is that of the first network; add those of the others, always in this order
        for network in networks[1:]:
            torch.from_numpy(self.gradient).add_(torch.from_numpy(network.gradient))
        return torch.stack(losses).sum(0)

    def losses(
        self,
        network: TorchNetwork,
        features: RowReader,
        batch: Batch,
        rows: np.ndarray,
        advantages: np.ndarray,
        objective: Objective,
    ) -> list[Tensor]:
        """Returns LOSSES of some rows of the batch, except the gradient norm, for autograd. `features` reads
        features by row index; `rows`: row indices [b]; `advantages`: those of the rows, [b], already
        standardized if the objective asks for it."""
        index, advantage = torch.from_numpy(rows), torch.from_numpy(advantages)  # [b]

        def select(column: np.ndarray) -> Tensor:
            return torch.from_numpy(column)[index]

        # 1. The distribution and the value that the current network gives for these rows.
        output, value = network(features(index))
        mask = None if batch.mask is None else select(batch.mask)
        dist = distribution(self.policy.head, output, network.tensors, mask)
        logprob = dist.logprob(select(batch.action))
        # 2. The policy loss: the plain policy gradient, or PPO's clipped surrogate.
        if objective.clip is None:
            policy_loss = -(logprob * advantage).mean()
        else:
            ratio = torch.exp(logprob - select(batch.logprob))
            policy_loss = clipped_surrogate(ratio, advantage, objective.clip)
        # 3. The other terms. Terms with a coefficient of 0 are not computed and are reported as 0.
        loss, critic_loss, value_clip_fraction, kl_penalty, entropy_bonus = (
            policy_loss,
            *torch.zeros(4),
        )
        if objective.critic:
            critic_loss, value_clip_fraction = value_loss(
                value,
                select(batch.target),
                select(batch.value),
                clip=objective.value_clip,
                huber=objective.huber,
            )
            loss = loss + objective.value_coef * critic_loss
        if objective.entropy_coef:
            entropy_bonus = -objective.entropy_coef * dist.entropy().mean()
            loss = loss + entropy_bonus
        if objective.kl_coef:
            kl_penalty = dist.kl_from(select(batch.dist)).mean()
            loss = loss + objective.kl_coef * kl_penalty
        # in the order of LOSSES
        return [loss, policy_loss, critic_loss, kl_penalty, value_clip_fraction, entropy_bonus]

    def policy_shift(self, batch: Batch, clip: float | None) -> dict[str, float]:
        """Returns KL, entropy and ratios of the current policy against the policy that collected the batch.

        The clip fraction, the share of ratios beyond 1 +- `clip`, is included if `clip` is not None.
        """
        head = self.policy.head
        batch = monitoring_rows(self.policy.network, batch)
        # Through the policy's inference, as during collection, so that the different rounding of autograd
        # is not mistaken for a change of the policy.
        new = self.policy.dist_from_features(np.asarray(batch.features), batch.mask)
        log_ratio = head.logprob(new, batch.action) - batch.logprob
        ratio, log_ratio64 = np.exp(log_ratio), log_ratio.astype(np.float64)
        metrics = {
            "policy/kl": float(head.kl(batch.dist, new).mean()),
            # The k3 estimator, ratio - 1 - log ratio (http://joschu.net/blog/kl-approx.html). Near 0 the
            # terms cancel, so it is computed in float64 with expm1.
            "policy/approx_kl": float((np.expm1(log_ratio64) - log_ratio64).mean()),
            "policy/entropy": float(head.entropy(new).mean()),
            "policy/ratio_mean": float(ratio.mean()),
            "policy/ratio_max": float(ratio.max()),
        }
        if clip is not None:
            metrics["policy/clip_fraction"] = float((np.abs(ratio - 1) > clip).mean())
        return metrics


assert len(LOSSES) == 7  # the six that `losses` returns, and the gradient norm
engine = TorchEngine
