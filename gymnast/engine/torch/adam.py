"""AdamW on one flat vector: a single call of torch's fused step, whatever the number of layers."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.optim.adamw import adamw

from gymnast.engine.adam import BETA1, BETA2, Adam


@torch.no_grad()
def adamw_step(
    parameters: np.ndarray, gradient: np.ndarray, adam: Adam, *, lr: float, max_norm: float | None
) -> Tensor:
    """Clips the gradient to `max_norm`, takes one step and returns the norm before clipping.

    Parameters, gradient and moments are changed in place.
    """
    weights, grad = torch.from_numpy(parameters), torch.from_numpy(gradient)
    norm = torch.linalg.vector_norm(grad)
    if max_norm is not None:  # the same formula as torch.nn.utils.clip_grad_norm_
        grad.mul_(torch.clamp(max_norm / (norm + 1e-6), max=1.0))
    adamw(
        [weights],
        [grad],
        [torch.from_numpy(adam.first_moment)],
        [torch.from_numpy(adam.second_moment)],
        max_exp_avg_sqs=[],
        # torch increments this copy before it corrects the bias, so it gets the count without this step
        state_steps=[torch.tensor(float(adam.steps))],
        fused=True,
        amsgrad=False,
        beta1=BETA1,
        beta2=BETA2,
        lr=lr,
        weight_decay=adam.weight_decay,
        eps=adam.eps,
        maximize=False,
    )
    adam.steps += 1
    return norm
