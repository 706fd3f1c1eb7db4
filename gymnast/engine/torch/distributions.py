"""Log-probability, entropy and KL of each action head, for autograd.

`policy/actions.py` has the same mathematics in NumPy; a test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gymnast.policy.actions import (
    MASKED_LOGIT,
    Bernoulli,
    Categorical,
    Composite,
    EpsilonGreedy,
    Gaussian,
    Head,
    MultiCategorical,
    SquashedGaussian,
)
from gymnast.policy.composite import Part
from gymnast.policy.continuous import QUADRATURE_NODES, QUADRATURE_WEIGHTS


class Distribution(Protocol):
    """Action distributions of a batch. Every result is [B], summed over the elements of an action."""

    def logprob(self, action: Tensor) -> Tensor: ...
    def entropy(self) -> Tensor: ...
    def kl_from(self, old: Tensor) -> Tensor:
        """Returns KL(old || self) of stored distribution parameters `old` [B, k], shape [B]."""
        ...


class CategoricalDistribution:
    """One of n options, from logits [B, n]."""

    def __init__(self, logits: Tensor) -> None:
        self.logp = torch.log_softmax(logits, -1)

    def logprob(self, action: Tensor) -> Tensor:
        return self.logp.gather(-1, action.unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logp.exp() * self.logp).sum(-1)

    def kl_from(self, old: Tensor) -> Tensor:
        logp = torch.log_softmax(old, -1)
        return (logp.exp() * (logp - self.logp)).sum(-1)


class MultiCategoricalDistribution:
    """Independent categoricals with n[i] options, from their concatenated logits [B, sum(n)]."""

    def __init__(self, logits: Tensor, n: tuple[int, ...]) -> None:
        self.n = list(n)
        self.elements = [CategoricalDistribution(part) for part in logits.split(self.n, -1)]

    def logprob(self, action: Tensor) -> Tensor:
        chosen = zip(self.elements, action.unbind(-1), strict=True)
        return sum_over(one.logprob(a) for one, a in chosen)

    def entropy(self) -> Tensor:
        return sum_over(one.entropy() for one in self.elements)

    def kl_from(self, old: Tensor) -> Tensor:
        before = zip(self.elements, old.split(self.n, -1), strict=True)
        return sum_over(one.kl_from(logits) for one, logits in before)


class BernoulliDistribution:
    """Independent Bernoulli variables, from the logits of on, [B, k]."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits

    def logprob(self, action: Tensor) -> Tensor:
        # ln sigmoid(x) = -softplus(-x), which does not overflow
        return -functional.softplus(torch.where(action == 1, -self.logits, self.logits)).sum(-1)

    def entropy(self) -> Tensor:
        on = torch.sigmoid(self.logits)
        off = torch.sigmoid(-self.logits)  # 1 - on would be rounded to 0 for large logits
        softplus = functional.softplus
        return (on * softplus(-self.logits) + off * softplus(self.logits)).sum(-1)

    def kl_from(self, old: Tensor) -> Tensor:
        softplus = functional.softplus
        when_on = torch.sigmoid(old) * (softplus(-self.logits) - softplus(-old))
        when_off = torch.sigmoid(-old) * (softplus(self.logits) - softplus(old))
        return (when_on + when_off).sum(-1)


class GaussianDistribution:
    """Independent normals, from means [B, a] and log standard deviations [a]."""

    def __init__(self, mean: Tensor, log_std: Tensor) -> None:
        self.mean, self.log_std = mean, log_std

    def logprob(self, action: Tensor) -> Tensor:
        z = (action - self.mean) * torch.exp(-self.log_std)
        return (-0.5 * z * z - self.log_std - 0.5 * math.log(2 * math.pi)).sum(-1)

    def entropy(self) -> Tensor:
        # log_std [a] does not depend on the observation, so all rows have the same entropy
        entropy = (self.log_std + 0.5 * math.log(2 * math.pi * math.e)).sum()
        return entropy.expand(len(self.mean))

    def kl_from(self, old: Tensor) -> Tensor:
        mean, log_std = old.chunk(2, -1)
        spread = torch.exp(2 * (log_std - self.log_std))
        shift = ((mean - self.mean) * torch.exp(-self.log_std)) ** 2
        return (self.log_std - log_std + 0.5 * (spread + shift - 1)).sum(-1)


class SquashedGaussianDistribution:
    """Normals squashed by tanh. Actions are given before tanh."""

    def __init__(self, mean: Tensor, log_std: Tensor) -> None:
        self.normal = GaussianDistribution(mean, log_std)
        self.kl_from = self.normal.kl_from  # tanh is one-to-one, so it does not change the KL

    def logprob(self, action: Tensor) -> Tensor:
        # Change of variables: actions are stored before tanh, the density is that after tanh.
        return self.normal.logprob(action) - _log_slope(action).sum(-1)

    def entropy(self) -> Tensor:
        """Returns the entropy of the normals plus the expected log derivative of tanh, shape [B]."""
        mean, log_std = self.normal.mean, self.normal.log_std
        nodes, weights = (
            torch.from_numpy(x).to(mean.dtype) for x in (QUADRATURE_NODES, QUADRATURE_WEIGHTS)
        )
        # E[ln(1 - tanh^2)] over the normal, by quadrature: [B, a, nodes] @ [nodes] -> [B, a]
        slope = _log_slope(mean[..., None] + torch.exp(log_std)[..., None] * nodes) @ weights
        return self.normal.entropy() + slope.sum(-1)


class CompositeDistribution:
    """Independent distributions of the parts of an action. Actions [B, E] are float32, one per element."""

    def __init__(self, parts: Sequence[tuple[Part, Distribution]]) -> None:
        self.parts = parts

    def logprob(self, action: Tensor) -> Tensor:
        return sum_over(one.logprob(_own_action(part, action)) for part, one in self.parts)

    def entropy(self) -> Tensor:
        return sum_over(one.entropy() for _, one in self.parts)

    def kl_from(self, old: Tensor) -> Tensor:
        return sum_over(one.kl_from(old[:, part.dist]) for part, one in self.parts)


def distribution(
    head: Head,
    output: Tensor,
    tensors: Mapping[str, Tensor],
    mask: Tensor | None,
) -> Distribution:
    """Returns the action distribution that this head makes of the actor's outputs [B, k].

    `mask` [B, options] marks the allowed actions; `tensors` holds the head's own parameters.
    """
    match head:
        case EpsilonGreedy():  # constant for autograd: Q-values are trained by a TD loss
            epsilon = tensors["actor.epsilon"].detach().numpy()
            allowed = None if mask is None else mask.numpy()
            logits = head.dist_parameters(output.detach().numpy(), epsilon, allowed)
            return CategoricalDistribution(torch.from_numpy(logits))
        case Categorical():
            return CategoricalDistribution(_allowed(output, mask))
        case MultiCategorical():
            return MultiCategoricalDistribution(_allowed(output, mask), head.space.options)
        case Bernoulli():
            if mask is not None:
                output = output.masked_fill(~mask[:, ::2], -float(MASKED_LOGIT))
                output = output.masked_fill(~mask[:, 1::2], float(MASKED_LOGIT))
            return BernoulliDistribution(output)
        case SquashedGaussian():
            return SquashedGaussianDistribution(output, tensors["actor.log_std"])
        case Gaussian():
            return GaussianDistribution(output, tensors["actor.log_std"])
        case Composite():
            return CompositeDistribution(
                [(part, _part_distribution(part, output, tensors, mask)) for part in head.parts]
            )
        case _:
            raise TypeError(f"there is no distribution for {head.space.name} actions")


def _part_distribution(
    part: Part, output: Tensor, tensors: Mapping[str, Tensor], mask: Tensor | None
) -> Distribution:
    """Returns the distribution of one part of an action, from the outputs, parameters and masks of all."""
    own = {name: tensors[name][part.extra] for name in ("actor.log_std",) if name in tensors}
    own_mask = None if mask is None else mask[:, part.mask]
    return distribution(part.head, output[:, part.outputs], own, own_mask)


def _own_action(part: Part, action: Tensor) -> Tensor:
    """Returns the part's own actions from those of the whole, [B, E]."""
    spec, own = part.head.action_spec, action[:, part.elements]
    own = own if spec.dtype == np.float32 else own.long()
    return own.reshape(len(own), *spec.shape)


def sum_over(parts: Iterable[Tensor]) -> Tensor:
    """Returns the sum over independent parts, each [B]."""
    return torch.stack(list(parts)).sum(0)


def _allowed(logits: Tensor, mask: Tensor | None) -> Tensor:
    """Returns the logits with those of masked actions replaced, so that no gradient reaches them."""
    return logits if mask is None else logits.masked_fill(~mask, float(MASKED_LOGIT))


def _log_slope(x: Tensor) -> Tensor:
    """Returns ln(1 - tanh(x)^2), the log derivative of tanh, without cancellation for large |x|."""
    return 2 * (math.log(2) - x - functional.softplus(-2 * x))
