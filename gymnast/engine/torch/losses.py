"""PPO's loss terms, as pure functions of tensors [B]."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def clipped_surrogate(ratio: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """Returns PPO's clipped surrogate loss: -mean(min(ratio * A, clamp(ratio, 1 - clip, 1 + clip) * A))."""
    unclipped = ratio * advantage
    clipped = torch.clamp(ratio, 1 - clip, 1 + clip) * advantage
    return -torch.minimum(unclipped, clipped).mean()


def value_loss(
    value: Tensor, target: Tensor, old: Tensor, *, clip: float | None, huber: bool
) -> tuple[Tensor, Tensor]:
    """Returns the mean loss of the critic, and the share of rows outside of the clip range.

    With `clip`, the loss of a row is the larger one of the value and of the value clipped to
    old +- clip.
    """
    error = _errors(value, target, huber)
    if clip is None:
        return error.mean(), torch.zeros(())
    clipped = old + torch.clamp(value - old, -clip, clip)
    clip_fraction = ((value - old).abs() > clip).float().mean()
    return torch.maximum(error, _errors(clipped, target, huber)).mean(), clip_fraction


def _errors(value: Tensor, target: Tensor, huber: bool) -> Tensor:
    """Returns squared errors, or Huber losses scaled to the same curvature at zero."""
    if huber:
        return 2 * functional.smooth_l1_loss(value, target, reduction="none")
    return (value - target) ** 2
