"""The interface of an engine, which computes updates.

Every engine works on the same memory: the policy's flat parameter vector, and a gradient and Adam
moments with the same layout.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gymnast.engine.adam import Adam
from gymnast.engine.batch import Batch, MinibatchPlan
from gymnast.engine.objective import Objective
from gymnast.errors import ConfigError
from gymnast.policy.policy import Policy

Array = np.ndarray


@dataclass(frozen=True)
class UpdateResult:
    """The losses of all gradient steps of an update."""

    losses: Array
    """One row per gradient step, with the columns LOSSES."""
    epochs: int
    """Number of epochs that were run."""
    stopped_early: bool
    """True if the KL exceeded `target_kl`, so that no further epoch was run."""


class Engine(Protocol):
    """Computes the updates of one policy, in place on its parameters."""

    gradient: Array
    """Gradient of the last step after clipping, laid out like the flat parameter vector."""

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
        """Takes the gradient steps of the plan and returns their losses. Changes the parameters and `adam` in
        place. `max_norm`: limit of the gradient norm, None for no clipping."""
        ...

    def policy_shift(self, batch: Batch, clip: float | None) -> dict[str, float]:
        """Returns how far the policy has moved from the one that collected the batch, by metric name. `clip`:
        clip range for the clip fraction, None without one.

        The KL divergence is exact, KL(old || new), computed from the stored distributions.
        """
        ...


def engine_for(policy: Policy) -> Engine:
    """Returns the engine that this policy is configured for. Imports torch only for the torch engine."""
    return load_engine(policy.engine)(policy)


def load_engine(name: str) -> Callable[[Policy], Engine]:
    """Returns the class of the engine `name` (native or torch), imported only when needed, because importing
    torch is slow. Raises ConfigError if it cannot be loaded."""
    try:
        return importlib.import_module(f"gymnast.engine.{name}.engine").engine
    except (ImportError, OSError, RuntimeError) as problem:
        raise ConfigError(
            f"engine: {name} cannot be loaded: {problem}", fix="reinstall torch"
        ) from problem
