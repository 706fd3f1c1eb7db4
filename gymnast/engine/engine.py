"""What computes updates. Every engine works on the same memory: the flat parameter vector of the
policy, and a gradient and Adam's moments laid out like it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gymnast.engine.adam import Adam
from gymnast.engine.batch import Batch, MinibatchPlan
from gymnast.engine.objective import Objective
from gymnast.errors import ConfigError
from gymnast.policy.policy import Policy

Array = np.ndarray


@dataclass(frozen=True)
class UpdateResult:
    """What all passes of an update came to."""

    losses: Array
    """A line per gradient step, columns LOSSES."""
    epochs: int
    stopped_early: bool
    """Before the last pass, since the policy had moved far enough."""


class Engine(Protocol):
    gradient: Array
    """Of the last step, after clipping; laid out like the parameters."""

    def update(
        self,
        batch: Batch,
        objective: Objective,
        passes: MinibatchPlan,
        adam: Adam,
        *,
        lr: float,
        max_norm: float | None,
    ) -> UpdateResult: ...

    def policy_shift(self, batch: Batch, clip: float | None) -> dict[str, float]:
        """How far the policy is from the one that acted, over the whole batch. KL is exact,
        KL(old || new), from the stored parameters."""
        ...


def engine_for(policy: Policy) -> Any:
    """The one this policy runs on. torch is imported only if it is that."""
    return load_engine(policy.engine).engine(policy)


def load_engine(name: str) -> Any:
    """The slow import, for torch."""
    try:
        return importlib.import_module(f"gymnast.engine.{name}.engine")
    except (ImportError, OSError, RuntimeError) as problem:
        raise ConfigError(
            f"engine: {name} cannot be loaded: {problem}", fix="install torch anew"
        ) from problem
