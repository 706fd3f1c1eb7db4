"""PPO's loss terms, as pure functions of tensors [B]."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def clipped_surrogate(ratio: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """Returns PPO's clipped surrogate loss (arXiv:1707.06347, eq. 7, negated).

    It is -mean(min(ratio * A, clamp(ratio, 1 - clip, 1 + clip) * A)).
    """
    unclipped = ratio * advantage
    clipped = torch.clamp(ratio, 1 - clip, 1 + clip) * advantage
    # The minimum is pessimistic: a ratio beyond the range gains nothing (no gradient), but one that moved
    # in the wrong direction is still pulled back.
    return -torch.minimum(unclipped, clipped).mean()


def value_loss(
    value: Tensor, target: Tensor, old: Tensor, *, clip: float | None, huber: bool
) -> tuple[Tensor, Tensor]:
    """Returns the mean loss of the critic, and the share of rows outside of the clip range.

    `old` are the values predicted during collection. With `clip`, the loss of a row is the larger of two:
    that of the value, and that of the value clipped to old +- clip. This is not part of the paper, but of
    its original implementation.
    """
    error = _errors(value, target, huber)
    if clip is None:
        return error.mean(), torch.zeros(())
    clipped = old + torch.clamp(value - old, -clip, clip)
    clip_fraction = ((value - old).abs() > clip).float().mean()
    return torch.maximum(error, _errors(clipped, target, huber)).mean(), clip_fraction


def _errors(value: Tensor, target: Tensor, huber: bool) -> Tensor:
    """Returns the squared error of each row, or its Huber loss scaled to the same curvature at zero."""
    if huber:
        return 2 * functional.smooth_l1_loss(value, target, reduction="none")
    return (value - target) ** 2
