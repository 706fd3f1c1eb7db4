"""The losses in `gymnast.algos.losses`: against their definitions, and both engines against them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.algos import a2c, ppo, reinforce
from gymnast.algos.losses import Losses, Minibatch, a2c_loss, ppo_loss, reinforce_loss
from gymnast.clock import Clock
from gymnast.config.sections import ALGORITHMS
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.objective import LOSSES
from tests.algos.harness import BOTH_ENGINES
from tests.engine.native.problems import ACTIONS, Problem
from tests.engine.native.reference import action_terms, run_layers

REFERENCES: dict[str, tuple[Any, Any]] = {
    "ppo": (ppo_loss, ppo.objective),
    "a2c": (a2c_loss, a2c.objective),
    "reinforce": (reinforce_loss, reinforce.objective),
}
"""Algorithm -> (its reference loss, the description of its loss for engines)."""
COEFFICIENT = st.sampled_from([0.0, 0.01, 0.3, 2.0])
VALUES = {
    "value_coef": COEFFICIENT,
    "entropy_coef": COEFFICIENT,
    "value_loss": st.sampled_from(["mse", "huber"]),
}
HYPERPARAMETERS: dict[str, dict[str, Any]] = {
    "ppo": VALUES
    | {
        "clip": st.sampled_from([0.0, 0.01, 0.2, 10.0]),
        "value_clip": st.sampled_from(["off", 0.02, 0.3, 5.0]),
        "kl_coef": COEFFICIENT,
        "advantage_norm": st.sampled_from(["minibatch", "off"]),
    },
    "a2c": VALUES,
    "reinforce": VALUES | {"baseline": st.sampled_from(["none", "batch", "learned"])},
}
"""Algorithm -> the hyperparameters that its loss depends on, and values to draw."""
DRAWN = st.sampled_from(list(REFERENCES)).flatmap(
    lambda algo: st.tuples(st.just(algo), st.fixed_dictionaries(HYPERPARAMETERS[algo]))
)


def hyperparameters(algo: str, given: dict[str, Any]) -> Any:
    return ALGORITHMS[algo][0].model_validate(given).values_at(Clock())


# ---- the formulas, one row at a time --------------------------------------------------------------


def slow_losses(batch: Minibatch, algo: str, h: Any) -> dict[str, float]:
    """Returns the terms of the loss, computed with plain numbers from the definitions."""
    columns = {name: column.tolist() for name, column in vars(batch).items()}
    n = len(columns["value"])
    rows = [{name: column[i] for name, column in columns.items()} for i in range(n)]
    mean = math.fsum(row["advantage"] for row in rows) / n
    std = math.sqrt(math.fsum((row["advantage"] - mean) ** 2 for row in rows) / n)
    policy, value = [], []
    for row in rows:
        gain, clip = row["advantage"], getattr(h, "clip", None)
        if algo == "ppo" and h.advantage_norm == "minibatch":
            gain = (gain - mean) / std if std > 1e-8 else 0.0
        if clip is None:
            policy.append(-row["logprob"] * gain)
        else:
            ratio = math.exp(row["logprob"] - row["old_logprob"])
            policy.append(-min(ratio * gain, min(max(ratio, 1 - clip), 1 + clip) * gain))
        predictions = [row["value"]]
        if getattr(h, "value_clip", None) is not None:
            moved = row["value"] - row["old_value"]
            predictions.append(row["old_value"] + min(max(moved, -h.value_clip), h.value_clip))
        distances = [abs(prediction - row["target"]) for prediction in predictions]
        far = [2 * d - 1 if h.value_loss == "huber" and d > 1 else d * d for d in distances]
        value.append(max(far))
    has_critic = getattr(h, "baseline", "learned") == "learned"
    terms = {
        "policy": math.fsum(policy) / n,
        "value": math.fsum(value) / n if has_critic else 0.0,
        "entropy": math.fsum(row["entropy"] for row in rows) / n,
        "kl": math.fsum(row["kl"] for row in rows) / n,
    }
    total = terms["policy"] + h.value_coef * terms["value"] - h.entropy_coef * terms["entropy"]
    return terms | {"total": total + getattr(h, "kl_coef", 0.0) * terms["kl"]}


@settings(max_examples=200, derandomize=True, deadline=None)
@given(drawn=DRAWN, rows=st.integers(1, 30), seed=st.integers(0, 1000))
def test_the_formulas_match_their_definitions_row_by_row(
    drawn: tuple[str, dict[str, Any]], rows: int, seed: int
):
    algo, given_values = drawn
    h, rng = hyperparameters(algo, given_values), np.random.default_rng(seed)
    batch = Minibatch(**{name: torch.from_numpy(rng.normal(size=rows)) for name in COLUMNS})
    found: Losses = REFERENCES[algo][0](batch, h)
    for name, expected in slow_losses(batch, algo, h).items():
        assert float(getattr(found, name)) == pytest.approx(expected, rel=1e-9, abs=1e-12), name


COLUMNS = Minibatch.__dataclass_fields__.keys()


# ---- engines --------------------------------------------------------------------------------------


def reference(problem: Problem, algo: str, h: Any) -> tuple[Losses, np.ndarray]:
    """Returns the losses of the whole batch and their gradient, laid out like the parameters: a forward
    pass in float64, the formula, and autograd."""
    policy, batch = problem.policy, problem.batch
    weights = {
        name: torch.from_numpy(view.astype(np.float64)).requires_grad_()
        for name, view in policy.parameters.views.items()
    }

    def fixed(column: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(column.astype(np.float64))

    hidden = run_layers("shared", policy.network.shared, weights, batch.features)
    output = run_layers("actor", policy.network.actor, weights, hidden)
    logprob, entropy, kl = action_terms(
        policy,
        output,
        weights,
        None if batch.mask is None else torch.from_numpy(batch.mask),
        torch.from_numpy(batch.action),
        fixed(batch.dist),
    )
    rows = Minibatch(
        logprob=logprob,
        entropy=entropy,
        kl=kl,
        value=run_layers("critic", policy.network.critic, weights, hidden)[:, 0],
        old_logprob=fixed(batch.logprob),
        old_value=fixed(batch.value),
        advantage=fixed(batch.advantage),
        target=fixed(batch.target),
    )
    losses: Losses = REFERENCES[algo][0](rows, h)
    losses.total.backward()
    gradient = np.zeros(policy.parameters.flat.size)
    for name, view in policy.parameters.views_of(gradient).items():
        slope = weights[name].grad
        view[...] = 0.0 if slope is None else slope.numpy()
    return losses, gradient


def assert_engine_matches(problem: Problem, algo: str, h: Any, engine: str) -> None:
    expected, slope = reference(problem, algo, h)
    objective = REFERENCES[algo][1](h)
    plan = MinibatchPlan.single_batch(len(problem.batch))
    gradient, result = problem.run_update(objective, plan, engine=engine)
    row = dict(zip(LOSSES, result.losses[0].tolist(), strict=True))
    # Engines leave out terms with a coefficient of 0, and report the entropy with its coefficient.
    wanted = {
        "loss/total": expected.total,
        "policy/loss": expected.policy,
        "value/loss": expected.value,
        "policy/kl_penalty": expected.kl if objective.kl_coef else torch.zeros(()),
        "loss/entropy": -h.entropy_coef * expected.entropy,
        "optim/grad_norm": torch.tensor(float(np.linalg.norm(slope))),
    }
    for name, loss in wanted.items():
        assert row[name] == pytest.approx(float(loss.detach()), rel=2e-5, abs=2e-5), name
    assert np.linalg.norm(gradient - slope) <= 2e-5 * np.linalg.norm(slope) + 1e-6


@BOTH_ENGINES
@settings(max_examples=120, derandomize=True, deadline=None)
@given(
    drawn=DRAWN,
    action=st.sampled_from(list(ACTIONS)),
    masked=st.booleans(),
    shared=st.booleans(),
    rows=st.integers(1, 80),
    seed=st.integers(0, 1000),
)
def test_losses_and_gradients_of_both_engines_match_the_formulas(
    engine: str, drawn: tuple[str, dict[str, Any]], action: str, masked: bool, **made: Any
):
    algo, given_values = drawn
    masked = masked and not action.endswith("amounts")  # continuous actions have no masks
    problem = Problem.make(action=action, masked=masked, **made)
    assert_engine_matches(problem, algo, hyperparameters(algo, given_values), engine)


@BOTH_ENGINES
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("algo", REFERENCES)
def test_every_kind_of_action_is_compared_with_every_term_of_the_loss(
    algo: str, action: str, engine: str
):
    everything = {"value_coef": 0.7, "entropy_coef": 0.1}
    if algo == "ppo":
        everything |= {"kl_coef": 0.3, "value_clip": 0.2, "clip": 0.1}
    masked = not action.endswith("amounts")
    problem = Problem.make(action=action, masked=masked, rows=64)
    assert_engine_matches(problem, algo, hyperparameters(algo, everything), engine)
