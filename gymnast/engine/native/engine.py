"""Updates in compiled code: all passes in one call, standard networks, no torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.compiled import kernels
from gymnast.engine.adam import Adam
from gymnast.engine.batch import Batch, MinibatchPlan, monitoring_rows
from gymnast.engine.engine import UpdateResult
from gymnast.engine.native.plan import native_plan
from gymnast.engine.objective import LOSSES, Objective
from gymnast.images import Images
from gymnast.policy.parameters import aligned_zeros
from gymnast.policy.policy import Policy


class NativeEngine:
    def __init__(self, policy: Policy) -> None:
        self.native: Any = kernels()
        self.policy = policy
        self.plan = native_plan(policy.network, policy.parameters, policy.head)
        self.parameters = policy.parameters.flat
        self.gradient = aligned_zeros(self.parameters.size)

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
        table = np.zeros((len(passes.orders) * passes.steps_per_epoch, len(LOSSES)))
        done, steps, stopped = self.native.improve(
            self.plan,
            self.parameters,
            self.gradient,
            adam.first,
            adam.second,
            adam.steps,
            self._rows(batch),
            self._rows(monitoring_rows(self.policy.network, batch)),
            passes.orders,
            passes.size,
            self.native.objective(
                clip=objective.clip,
                critic=objective.critic,
                huber=objective.huber,
                value_clip=objective.value_clip,
                value_coef=objective.value_coef,
                entropy_coef=objective.entropy_coef,
                kl_coef=objective.kl_coef,
                standardize=objective.standardize,
            ),
            lr=lr,
            eps=adam.eps,
            weight_decay=adam.weight_decay,
            max_norm=max_norm or 0.0,
            most_kl=passes.target_kl,
            table=table,
        )
        adam.steps = steps
        return UpdateResult(table[: done * passes.steps_per_epoch], done, stopped)

    def policy_shift(self, batch: Batch, clip: float | None) -> dict[str, float]:
        rows = self._rows(monitoring_rows(self.policy.network, batch))
        found = self.native.shift(self.plan, self.parameters, rows, clip or 0.0)
        names = ("kl", "approx_kl", "entropy", "ratio_mean", "ratio_max", "clip_fraction")
        report = {f"policy/{name}": x for name, x in zip(names, found, strict=True)}
        if clip is None:
            del report["policy/clip_fraction"]
        return report

    def _rows(self, batch: Batch) -> Any:
        amounts = batch.action.dtype == np.float32
        seen, planes = batch.features, None
        if isinstance(seen, Images):
            seen, planes = seen.plane, np.ascontiguousarray(seen.index)
        return self.native.Batch(
            seen,
            planes,
            None if amounts else batch.action,
            batch.action if amounts else None,
            batch.logprob,
            batch.dist,
            batch.advantage,
            batch.value,
            batch.target,
            batch.mask,
        )


engine = NativeEngine
