"""Updates are transactions: one that breaks the policy is undone, retried once with a smaller step,
then its batch is dropped. Never the same bad batch again and again.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from gymnast.config.sections.transaction import TransactionConfig
from gymnast.rollout import Rollout
from gymnast.training.learner import Learner

KL = "policy/kl"


@dataclass(frozen=True)
class Incident:
    """An update that was undone."""

    problem: str
    """What was wrong after it."""
    dropped: bool
    """It was the second attempt: nothing is learned from this rollout."""


class Transaction:
    """One role's updates, and how far the recent good ones moved the policy."""

    def __init__(self, cfg: TransactionConfig) -> None:
        self.cfg = cfg
        self.recent: deque[float] = deque(maxlen=cfg.window)

    def update(
        self,
        learner: Learner,
        rollout: Rollout,
        values: Any,
        stream: Callable[[], np.random.Generator],
        *,
        network_stats: bool = True,
        max_gradient_steps: int | None = None,
    ) -> tuple[dict[str, float], list[Incident]]:
        """The metrics of the update that stood (none if the batch was dropped), and what was undone.
        `stream()` gives the same draws to both attempts; `closely`: with numbers of the network."""
        before = learner.snapshot()
        incidents: list[Incident] = []
        for attempt in (values, values.with_smaller_step()):
            metrics = learner.update(
                rollout,
                attempt,
                stream(),
                network_stats=network_stats,
                max_gradient_steps=max_gradient_steps,
            )
            problem = self.problem(learner, metrics)
            if problem is None:
                self.recent.append(metrics.get(KL, 0.0))
                metrics["optim/rollbacks"] = len(incidents)
                return metrics, incidents
            learner.roll_back(before)
            incidents.append(Incident(problem, dropped=bool(incidents)))
        return {"optim/rollbacks": len(incidents), "optim/steps": 0}, incidents

    def problem(self, learner: Learner, metrics: dict[str, float]) -> str | None:
        """What makes this update one to undo."""
        if not all(map(math.isfinite, metrics.values())):
            broken = next(name for name, value in metrics.items() if not math.isfinite(value))
            return f"{broken} is {metrics[broken]}"
        if not np.isfinite(learner.policy.parameters.flat).all():
            return "parameters are not finite"
        if self.cfg.max_kl is None or KL not in metrics:
            return None
        usual = median(self.recent) if self.recent else 0.0
        limit = max(self.cfg.max_kl, self.cfg.kl_factor * usual)
        return f"KL {metrics[KL]:.3g} is above {limit:.3g} nats" if metrics[KL] > limit else None
