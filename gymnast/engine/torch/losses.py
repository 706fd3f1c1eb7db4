"""Loss terms as pure functions of tensors [B]."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def clipped_surrogate(ratio: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """PPO's pessimistic objective, negated: moving further than clip earns nothing."""
    free = ratio * advantage
    held = torch.clamp(ratio, 1 - clip, 1 + clip) * advantage
    return -torch.minimum(free, held).mean()


def value_loss(
    value: Tensor, target: Tensor, old: Tensor, *, clip: float | None, huber: bool
) -> tuple[Tensor, Tensor]:
    """Mean error of the critic, and the share of the batch where clipping held it back."""
    error = _errors(value, target, huber)
    if clip is None:
        return error.mean(), torch.zeros(())
    held = old + torch.clamp(value - old, -clip, clip)
    outside = ((value - old).abs() > clip).float().mean()
    return torch.maximum(error, _errors(held, target, huber)).mean(), outside


def _errors(value: Tensor, target: Tensor, huber: bool) -> Tensor:
    """Squared errors, or Huber's with the same curvature near zero."""
    if huber:
        return 2 * functional.smooth_l1_loss(value, target, reduction="none")
    return (value - target) ** 2
