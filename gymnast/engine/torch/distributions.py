"""Log-probability, entropy and KL of each action head, for autograd. Twin of `policy/actions.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor

from gymnast.policy.actions import FORBIDDEN, Categorical, Gaussian


class Distribution(Protocol):
    def logprob(self, action: Tensor) -> Tensor: ...
    def entropy(self) -> Tensor: ...
    def kl_from(self, old: Tensor) -> Tensor:
        """KL(old || this), old being stored parameters [B, k]."""
        ...


class CategoricalDistribution:
    def __init__(self, logits: Tensor) -> None:
        self.logp = torch.log_softmax(logits, -1)

    def logprob(self, action: Tensor) -> Tensor:
        return self.logp.gather(-1, action.unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logp.exp() * self.logp).sum(-1)

    def kl_from(self, old: Tensor) -> Tensor:
        logp = torch.log_softmax(old, -1)
        return (logp.exp() * (logp - self.logp)).sum(-1)


class GaussianDistribution:
    def __init__(self, mean: Tensor, log_std: Tensor) -> None:
        self.mean, self.log_std = mean, log_std

    def logprob(self, action: Tensor) -> Tensor:
        z = (action - self.mean) * torch.exp(-self.log_std)
        return (-0.5 * z * z - self.log_std - 0.5 * math.log(2 * math.pi)).sum(-1)

    def entropy(self) -> Tensor:
        one = (self.log_std + 0.5 * math.log(2 * math.pi * math.e)).sum()
        return one.expand(len(self.mean))

    def kl_from(self, old: Tensor) -> Tensor:
        mean, log_std = old.chunk(2, -1)
        spread = torch.exp(2 * (log_std - self.log_std))
        shift = ((mean - self.mean) * torch.exp(-self.log_std)) ** 2
        return (self.log_std - log_std + 0.5 * (spread + shift - 1)).sum(-1)


def distribution(
    head: Categorical | Gaussian,
    output: Tensor,
    tensors: Mapping[str, Tensor],
    mask: Tensor | None,
) -> Distribution:
    """What the actor's output [B, k] means under this head."""
    match head:
        case Categorical():
            if mask is not None:
                output = output.masked_fill(~mask, float(FORBIDDEN))
            return CategoricalDistribution(output)
        case Gaussian():
            return GaussianDistribution(output, tensors["actor.log_std"])
