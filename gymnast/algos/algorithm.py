"""The interface of a learning algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from gymnast.config.section import Hyperparameters
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout

H = TypeVar("H", bound=Hyperparameters, contravariant=True)


@dataclass(frozen=True)
class AlgorithmUpdate:
    """The result of one update of an algorithm."""

    metrics: dict[str, float]
    """Metrics by name, among them `optim/steps`, the number of gradient steps."""
    credit: Credit | None = None
    """The advantages, returns and values that it used; None for algorithms that do not compute them per
    rollout, such as Q-learning."""


class Algorithm(Protocol[H]):
    """A learning algorithm with the hyperparameters H. It is created from the policy that it trains and the
    section of its settings. `update` is a deterministic function of the state, the rollout, the
    hyperparameters `hparams`, the random stream and the maximum number of gradient steps."""

    def update(
        self,
        rollout: Rollout,
        hparams: H,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> AlgorithmUpdate:
        """Updates the policy with a rollout. `hparams`: the hyperparameters of this rollout;
        `max_gradient_steps`: None for no limit."""
        ...

    def state(self) -> Mapping[str, object]:
        """Returns arrays and plain JSON values by name. They are saved in checkpoints and passed to
        `load` as they are."""
        ...

    def memory(self) -> Mapping[str, object]:
        """Returns, like `state`, the data that updates only append to, such as a replay buffer. It may
        be large, so snapshots leave it out."""
        ...

    # Any: each algorithm declares the TypedDict of its own state.
    def load(self, state: Any) -> None:
        """Restores a state. If it comes without `memory` (a snapshot), this rolls back the last update
        and must also remove what that update appended to the memory."""
        ...
