"""What all policy gradients share: from advantages to a better policy, and what is told of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.critic import standardized
from gymnast.algos.descent import Descent
from gymnast.engine.batch import Batch, Passes
from gymnast.engine.objective import LOSSES, Objective
from gymnast.rollout import Rollout

Array = np.ndarray


def follow(
    descent: Descent,
    rollout: Rollout,
    advantage: Array,
    target: Array,
    objective: Objective,
    passes: Passes,
    values: Any,
    *,
    has_baseline: bool = True,
) -> dict[str, float]:
    """Make actions likelier by their advantage [T, N]; the critic, if it takes part, learns the
    targets. The report of one update. Normalizing advantages subtracts their mean, which is a baseline
    too: without one they are only scaled."""
    descent.begin(values)
    if values.advantage_norm == "rollout":
        advantage = standardized(advantage, rollout.valid, centered=has_baseline)
    batch = Batch.of(descent.policy, rollout, advantage, target)
    limit, engine = values.max_grad_norm, descent.engine
    done = engine.improve(batch, objective, passes, descent.adam, lr=values.lr, max_norm=limit)
    descent.note(objective.parts, done.losses[:, [LOSSES.index(n) for n in objective.parts]])
    report = descent.report(values) | engine.shift(batch, objective.clip)
    report |= weighted(report, objective)
    if objective.clip is not None:
        report |= {"optim/epochs": done.passes, "optim/kl_stop": float(done.stopped)}
    return report


def weighted(report: dict[str, float], objective: Objective) -> dict[str, float]:
    """The terms of the loss as they enter it, beside that of the entropy."""
    terms = {"loss/policy": report["policy/loss"]}
    if objective.critic:
        terms["loss/value"] = objective.value_coef * report["value/loss"]
    if objective.clip is not None:
        terms["loss/kl"] = objective.kl_coef * report["policy/kl_penalty"]
    return terms
