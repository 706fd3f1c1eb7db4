"""The native engine: all epochs of an update in one call of compiled code, without torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.compiled import kernels
from gymnast.engine.adam import Adam
from gymnast.engine.batch import Batch, MinibatchPlan, monitoring_rows
from gymnast.engine.engine import Engine, UpdateResult
from gymnast.engine.native.plan import kernel_actions, native_plan
from gymnast.engine.objective import LOSSES, Objective
from gymnast.images import Images
from gymnast.policy.parameters import aligned_zeros
from gymnast.policy.policy import Policy


class NativeEngine(Engine):
    """Implements `Engine` with the compiled kernels."""

    def __init__(self, policy: Policy) -> None:
        self.native: Any = kernels()
        self.policy = policy
        self.network = native_plan(policy.network, policy.parameters, policy.head)
        self.parameters = policy.parameters.flat
        self.gradient = aligned_zeros(self.parameters.size)

    def update(
        self,
        batch: Batch,
        objective: Objective,
        plan: MinibatchPlan,
        adam: Adam,
        *,
        lr: float,
        max_norm: float | None,
    ) -> UpdateResult:
        """Takes the gradient steps of the plan, see `Engine.update`. One call of compiled code does all."""
        # Room for every gradient step. After an early stop, the rows of the epochs not run are cut off.
        losses = np.zeros((len(plan.orders) * plan.steps_per_epoch, len(LOSSES)))
        epochs, steps, stopped = self.native.update(
            self.network,
            self.parameters,
            self.gradient,
            adam.first_moment,
            adam.second_moment,
            adam.steps,
            self._as_native(batch),
            self._as_native(monitoring_rows(self.policy.network, batch)),
            plan.orders,
            plan.size,
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
            max_norm=max_norm or 0.0,  # 0 means no clipping
            target_kl=plan.target_kl,
            table=losses,
        )
        adam.steps = steps
        return UpdateResult(losses[: epochs * plan.steps_per_epoch], epochs, stopped)

    def policy_shift(self, batch: Batch, clip: float | None) -> dict[str, float]:
        """Returns KL, entropy and ratios of the current policy against the policy that collected the batch.

        The clip fraction, the share of ratios beyond 1 +- `clip`, is included if `clip` is not None.
        """
        rows = self._as_native(monitoring_rows(self.policy.network, batch))
        shift = self.native.policy_shift(self.network, self.parameters, rows, clip or 0.0)
        # in the order of `Shift` in native/network.hpp
        names = ("kl", "approx_kl", "entropy", "ratio_mean", "ratio_max", "clip_fraction")
        metrics = {f"policy/{name}": x for name, x in zip(names, shift, strict=True)}
        if clip is None:
            del metrics["policy/clip_fraction"]
        return metrics

    def _as_native(self, batch: Batch) -> Any:
        """Returns the batch of a rollout, or rows of it, as the kernels read it: they take options and
        continuous numbers as two arguments."""
        chosen, amounts = kernel_actions(self.policy.head, batch.action)
        features, plane_index = batch.features, None
        if isinstance(features, Images):
            # All planes, [F, height, width], and the plane indices of each row, [B, channels].
            features, plane_index = features.plane, np.ascontiguousarray(features.index)
        rows = self.native.Batch(
            features=features,
            planes=plane_index,
            chosen=chosen,
            amounts=amounts,
            logprob=batch.logprob,
            dist=batch.dist,
            advantage=batch.advantage,
            value=batch.value,
            target=batch.target,
            mask=batch.mask,
        )
        if (sequences := batch.sequences) is not None:
            rows.sequences(sequences.start, sequences.weight, sequences.state)
        return rows


engine = NativeEngine
