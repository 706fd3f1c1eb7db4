"""The plain policy gradient: one step on a whole rollout. What A2C and REINFORCE share."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.batch import Batch
from gymnast.algos.critic import standardized
from gymnast.algos.descent import Descent
from gymnast.engine.torch.distributions import distribution
from gymnast.engine.torch.losses import value_loss
from gymnast.rollout import Rollout

Array = np.ndarray


def follow(
    descent: Descent,
    rollout: Rollout,
    advantage: Array,
    target: Array,
    values: Any,
    *,
    critic: bool = True,
) -> None:
    """Make actions likelier by their advantage [T, N]; the critic, if it takes part, learns the
    targets."""
    policy, network = descent.policy, descent.network
    if values.advantage_norm == "rollout":
        advantage = standardized(advantage, rollout.valid)
    batch = Batch.of(policy, rollout, advantage, target)
    output, value = network(batch.features)
    dist = distribution(policy.head, output, network.tensors, batch.mask)
    loss = -(dist.logprob(batch.action) * batch.advantage).mean()
    parts = {"policy/loss": loss}
    if critic:
        parts["value/loss"], _ = value_loss(
            value, batch.target, batch.value, clip=None, huber=values.value_loss == "huber"
        )
        loss = loss + values.value_coef * parts["value/loss"]
    if values.entropy_coef:
        loss = loss - values.entropy_coef * dist.entropy().mean()
    descent.step(loss, parts, values)
