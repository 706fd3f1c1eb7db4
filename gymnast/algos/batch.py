"""The steps of a rollout as tensors, with what is to be learned from each."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout


@dataclass(frozen=True)
class Batch:
    """[B, ...]"""

    features: Tensor
    action: Tensor
    logprob: Tensor
    dist: Tensor
    advantage: Tensor
    value: Tensor
    target: Tensor
    mask: Tensor | None

    @classmethod
    def of(
        cls, policy: Policy, rollout: Rollout, advantage: np.ndarray, target: np.ndarray
    ) -> Batch:
        """Valid steps only. Advantages and targets [T, N] become float32 here and not before."""
        keep = rollout.valid.ravel()
        scale = policy.value_scale.normalized

        def flat(x: np.ndarray) -> np.ndarray:
            x = x.reshape(-1, *x.shape[2:])
            return x if keep.all() else x[keep]

        def floats(x: np.ndarray) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(flat(x), dtype=np.float32))

        return cls(
            features=torch.from_numpy(policy.features(flat(rollout.obs))),
            action=torch.from_numpy(flat(rollout.action)),
            logprob=floats(rollout.logprob),
            dist=floats(rollout.dist),
            advantage=floats(advantage),
            value=floats(scale(rollout.value)),
            target=floats(scale(target)),
            mask=None if rollout.mask is None else torch.from_numpy(flat(rollout.mask)),
        )

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, index: np.ndarray | slice) -> Batch:
        parts = (getattr(self, f.name) for f in fields(self))
        return Batch(*(None if part is None else part[index] for part in parts))  # type: ignore[arg-type]
