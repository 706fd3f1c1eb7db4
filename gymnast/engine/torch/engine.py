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
from gymnast.engine.sequences import Sequences
from gymnast.engine.torch import shares
from gymnast.engine.torch.adam import adamw_step
from gymnast.engine.torch.distributions import distribution
from gymnast.engine.torch.losses import clipped_surrogate, value_loss
from gymnast.engine.torch.network import TorchNetwork
from gymnast.engine.torch.recurrent import SequenceTensors
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
        """Computes the gradient of the loss of a minibatch (indices of rows; of sequences with memory) into
        `gradient`. `features` reads features by row index.

        Returns all LOSSES except the gradient norm. Each loss is a mean over rows, so every share is weighted
        by its number of rows. Shares are summed in a fixed order: the bits do not depend on which thread
        finishes first.
        """
        spans = shares.split_rows(len(minibatch))
        while len(self.networks) < len(spans):  # created once, on first use
            self.networks.append(TorchNetwork(self.policy.network, self.policy.parameters))
        networks = self.networks[: len(spans)]
        learned = [_learned_rows(batch, minibatch[span]) for span in spans]
        # Over the minibatch, before it is divided into shares.
        advantage = batch.advantage[np.concatenate(learned)]
        if objective.standardize:
            advantage = standardize(advantage)
        ends = np.cumsum([len(rows) for rows in learned])
        advantages = np.split(advantage, ends[:-1])

        def share_losses(share: int) -> Tensor:
            """Computes the gradient of one share into its network and returns its weighted losses."""
            network, chosen = networks[share], minibatch[spans[share]]
            weight = len(learned[share]) / len(advantage)
            parts = self.losses(network, features, batch, chosen, advantages[share], objective)
            network.differentiate(parts[0] * weight)
            return torch.stack([part.detach() for part in parts]) * weight

        losses = shares.run_parallel(share_losses, range(len(spans)))
        # `gradient` is that of the first network; add those of the others, always in this order
        for network in networks[1:]:
            torch.from_numpy(self.gradient).add_(torch.from_numpy(network.gradient))
        return torch.stack(losses).sum(0)

    def losses(
        self,
        network: TorchNetwork,
        features: RowReader,
        batch: Batch,
        chosen: np.ndarray,
        advantages: np.ndarray,
        objective: Objective,
    ) -> list[Tensor]:
        """Returns LOSSES of some rows of the batch, except the gradient norm, for autograd. `features` reads
        features by row index; `chosen`: indices of rows, or of sequences with memory; `advantages`: those of
        the rows to learn from, [b], already standardized if the objective asks for it."""
        index = torch.from_numpy(_learned_rows(batch, chosen))  # [b]
        advantage = torch.from_numpy(advantages)

        def select(column: np.ndarray) -> Tensor:
            return torch.from_numpy(column)[index]

        # 1. The distribution and the value that the current network gives for these rows.
        if batch.sequences is None:
            output, value = network(features(index))
        else:
            output, value = _run_sequences(network, features, batch.sequences, chosen)
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
        if batch.sequences is not None:
            batch, new = self._after_sequences(batch, batch.sequences)
        else:
            # Through the policy's inference, as during collection, so that the different rounding of
            # autograd is not mistaken for a change of the policy.
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

    @torch.no_grad()
    def _after_sequences(self, batch: Batch, sequences: Sequences) -> tuple[Batch, np.ndarray]:
        """Returns the rows of a batch to learn from, and the distribution parameters that the current network
        gives for them."""
        every = np.arange(sequences.count)
        features = row_reader(self.policy.network, batch.features)
        output, _ = _run_sequences(self.network, features, sequences, every)
        batch = batch.rows(_learned_rows(batch, every))
        return batch, self.policy.dist_from_output(output.numpy(), batch.mask)


def _learned_rows(batch: Batch, chosen: np.ndarray) -> np.ndarray:
    """Returns the rows to learn from among the chosen rows, or in the chosen sequences with memory."""
    if batch.sequences is None:
        return chosen
    rows = batch.sequences.rows(chosen)
    return rows[batch.sequences.weight[rows] > 0]


def _run_sequences(
    network: TorchNetwork, features: RowReader, sequences: Sequences, chosen: np.ndarray
) -> tuple[Tensor, Tensor]:
    """Returns the outputs of actor and critic for the rows to learn from in the chosen sequences."""
    rows = sequences.rows(chosen)
    flags = (x[rows].reshape(sequences.length, -1) for x in (sequences.start, sequences.detached))
    tensors = SequenceTensors(*map(torch.from_numpy, (sequences.state[chosen], *flags)))
    output, value = network(features(torch.from_numpy(rows)), tensors)
    learned = torch.from_numpy(np.flatnonzero(sequences.weight[rows]))
    return output[learned], value[learned]


assert len(LOSSES) == 7  # the six that `losses` returns, and the gradient norm
engine = TorchEngine
