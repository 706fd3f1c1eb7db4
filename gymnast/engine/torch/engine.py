"""Updates by autograd: any network, any device. The reference for the other engine."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.adam import Adam
from gymnast.engine.batch import Batch, MinibatchPlan, monitoring_rows
from gymnast.engine.engine import UpdateResult
from gymnast.engine.objective import LOSSES, Objective
from gymnast.engine.torch import shares
from gymnast.engine.torch.adam import adamw_step
from gymnast.engine.torch.distributions import distribution
from gymnast.engine.torch.losses import clipped_surrogate, value_loss
from gymnast.engine.torch.network import TorchNetwork
from gymnast.engine.torch.rows import Chosen, ready
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import standardize


class TorchEngine:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.network = TorchNetwork(policy.network, policy.parameters)
        self.networks = [self.network]
        """One per share of a batch: the same parameters, each with a gradient of its own."""
        self.gradient = self.network.gradient

    def update(
        self,
        batch: Batch,
        objective: Objective,
        passes: MinibatchPlan,
        adam: Adam,
        *,
        lr: float,
        max_norm: float | None,
    ) -> UpdateResult:
        lines: list[Tensor] = []
        done, stopped = 0, False
        features = ready(self.policy.network, batch.features)
        while done < len(passes.orders) and not stopped:
            for portion in passes.minibatches(passes.orders[done]):
                parts = self.differentiate(features, batch, portion, objective)
                norm = self.optimizer_step(adam, lr=lr, max_norm=max_norm)
                lines.append(torch.stack([*parts, norm]))
            done += 1
            if passes.target_kl is not None:
                stopped = self.policy_shift(batch, None)["policy/kl"] > passes.target_kl
        return UpdateResult(torch.stack(lines).double().numpy(), done, stopped)

    def step(self, loss: Tensor, adam: Adam, *, lr: float, max_norm: float | None) -> Tensor:
        """One step down any loss of this network; the gradient's norm before clipping."""
        self.network.differentiate(loss)
        return self.optimizer_step(adam, lr=lr, max_norm=max_norm)

    def optimizer_step(self, adam: Adam, *, lr: float, max_norm: float | None) -> Tensor:
        return adamw_step(
            self.policy.parameters.flat, self.gradient, adam, lr=lr, max_norm=max_norm
        )

    def differentiate(
        self, features: Chosen, batch: Batch, portion: np.ndarray, objective: Objective
    ) -> Tensor:
        """LOSSES of a portion of the batch, but for the last; their gradient is in `gradient`. A loss
        is a mean, so that each share of the rows counts by its size; sums are in fixed order."""
        advantage = batch.advantage[portion]
        if objective.standardize:
            advantage = standardize(advantage)
        spans = shares.spans(len(portion))
        while len(self.networks) < len(spans):
            self.networks.append(TorchNetwork(self.policy.network, self.policy.parameters))
        used = self.networks[: len(spans)]

        def of(share: tuple[TorchNetwork, slice]) -> Tensor:
            network, span = share
            rows = portion[span]
            weight = len(rows) / len(portion)
            parts = self.losses(network, features, batch, rows, advantage[span], objective)
            network.differentiate(parts[0] * weight)
            return torch.stack([part.detach() for part in parts]) * weight

        found = shares.at_once(of, list(zip(used, spans, strict=True)))
        for network in used[1:]:
            torch.from_numpy(self.gradient).add_(torch.from_numpy(network.gradient))
        return torch.stack(found).sum(0)

    def losses(
        self,
        network: TorchNetwork,
        features: Chosen,
        batch: Batch,
        rows: np.ndarray,
        advantages: np.ndarray,
        objective: Objective,
    ) -> list[Tensor]:
        """LOSSES of some rows of the batch, but for the last."""
        index, advantage = torch.from_numpy(rows), torch.from_numpy(advantages)

        def of(column: np.ndarray) -> Tensor:
            return torch.from_numpy(column)[index]

        output, value = network(features(index))
        mask = None if batch.mask is None else of(batch.mask)
        dist = distribution(self.policy.head, output, network.tensors, mask)
        logprob = dist.logprob(of(batch.action))
        if objective.clip is None:
            policy = -(logprob * advantage).mean()
        else:
            ratio = torch.exp(logprob - of(batch.logprob))
            policy = clipped_surrogate(ratio, advantage, objective.clip)
        loss, critic, clipped, penalty, bonus = policy, *torch.zeros(4)
        if objective.critic:
            critic, clipped = value_loss(
                value,
                of(batch.target),
                of(batch.value),
                clip=objective.value_clip,
                huber=objective.huber,
            )
            loss = loss + objective.value_coef * critic
        if objective.entropy_coef:
            bonus = -objective.entropy_coef * dist.entropy().mean()
            loss = loss + bonus
        if objective.kl_coef:
            penalty = dist.kl_from(of(batch.dist)).mean()
            loss = loss + objective.kl_coef * penalty
        return [loss, policy, critic, penalty, clipped, bonus]

    def policy_shift(self, batch: Batch, clip: float | None) -> dict[str, float]:
        head = self.policy.head
        batch = monitoring_rows(self.policy.network, batch)
        new = self.policy.dist_of(np.asarray(batch.features), batch.mask)
        moved = head.logprob(new, batch.action) - batch.logprob
        ratio, far = np.exp(moved), moved.astype(np.float64)
        report = {
            "policy/kl": float(head.kl(batch.dist, new).mean()),
            "policy/approx_kl": float((np.expm1(far) - far).mean()),
            "policy/entropy": float(head.entropy(new).mean()),
            "policy/ratio_mean": float(ratio.mean()),
            "policy/ratio_max": float(ratio.max()),
        }
        if clip is not None:
            report["policy/clip_fraction"] = float((np.abs(ratio - 1) > clip).mean())
        return report


assert len(LOSSES) == 7  # what `losses` and the norm make
engine = TorchEngine
