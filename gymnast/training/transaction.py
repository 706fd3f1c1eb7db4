"""Updates are transactions: an update that breaks the policy is rolled back and retried once with a
smaller step. If that breaks the policy too, the batch is dropped, so that one bad batch is never
retried forever.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from gymnast.config.section import Hyperparameters
from gymnast.config.sections.transaction import TransactionConfig
from gymnast.rollout import Rollout
from gymnast.step_table import StepTargets
from gymnast.training.learner import Learner, Snapshot

KL = "policy/kl"


@dataclass(frozen=True)
class Incident:
    """An update that was rolled back."""

    problem: str
    """The reason, such as "KL 12.3 is above 0.5 nats"."""
    dropped: bool
    """True for the second attempt: nothing is learned from this rollout."""
    before: Snapshot = field(repr=False, compare=False)
    """The learner before the update. An accepted second attempt has changed it since."""


@dataclass(frozen=True)
class TransactionResult:
    """The result of an update, and of the attempts before it."""

    metrics: dict[str, float]
    """Metrics of the accepted update; only the numbers of rollbacks and gradient steps if the batch was
    dropped."""
    targets: StepTargets | None
    """The rewards, values and advantages of the accepted update; None if the batch was dropped."""
    incidents: list[Incident]
    """The attempts that were rolled back."""
    before: Snapshot = field(repr=False, compare=False)
    """The learner before the first attempt."""


class Transaction:
    """Runs the updates of one role and remembers the KL of its recent good ones."""

    def __init__(self, cfg: TransactionConfig) -> None:
        self.cfg = cfg
        self.recent_kl: deque[float] = deque(maxlen=cfg.window)
        """KL of the last accepted updates, in nats, oldest first."""

    def update(
        self,
        learner: Learner,
        rollout: Rollout,
        hparams: Hyperparameters,
        make_stream: Callable[[], np.random.Generator],
        *,
        network_stats: bool = True,
        max_gradient_steps: int | None = None,
    ) -> TransactionResult:
        """Updates the learner, in up to two attempts. `hparams`: the hyperparameters of the first attempt;
        `make_stream()` must return a fresh generator with the same seed for each attempt, so that both draw
        the same minibatches. The other arguments are those of `Learner.update`."""
        before = learner.snapshot()
        incidents: list[Incident] = []
        for attempt in (hparams, hparams.with_smaller_step()):
            update = learner.update(
                rollout,
                attempt,
                make_stream(),
                network_stats=network_stats,
                max_gradient_steps=max_gradient_steps,
            )
            metrics = update.metrics
            problem = self.find_problem(learner, metrics)
            if problem is None:
                # Only accepted updates count as usual: a spike must not raise the limit for the next.
                self.recent_kl.append(metrics.get(KL, 0.0))
                metrics["optim/rollbacks"] = len(incidents)
                return TransactionResult(metrics, update.targets, incidents, before)
            learner.roll_back(before)
            incidents.append(Incident(problem, dropped=bool(incidents), before=before))
        return TransactionResult(
            {"optim/rollbacks": len(incidents), "optim/steps": 0}, None, incidents, before
        )

    def find_problem(self, learner: Learner, metrics: dict[str, float]) -> str | None:
        """Returns why this update must be rolled back, or None if it is fine: metrics or parameters
        that are not finite, or a KL above both `max_kl` and `kl_factor` times the recent median."""
        if not all(map(math.isfinite, metrics.values())):
            broken = next(name for name, value in metrics.items() if not math.isfinite(value))
            return f"{broken} is {metrics[broken]}"
        if not np.isfinite(learner.policy.parameters.flat).all():
            return "parameters are not finite"
        if self.cfg.max_kl is None or KL not in metrics:
            return None
        # Relative to the usual, since a good KL differs by orders of magnitude between tasks, and at
        # least max_kl, since the median of a policy that hardly moves is near 0. The median ignores
        # single large values in the window.
        usual = median(self.recent_kl) if self.recent_kl else 0.0
        limit = max(self.cfg.max_kl, self.cfg.kl_factor * usual)
        return f"KL {metrics[KL]:.3g} is above {limit:.3g} nats" if metrics[KL] > limit else None
