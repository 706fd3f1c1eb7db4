"""Metrics of an update (loss terms, approx_kl, norms) against independent computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.algos.harness import BOTH_ENGINES
from tests.algos.reference import ZERO_LR, RecordingGenerator, stale_rollout, update_once

WEIGHTS = {"algo.entropy_coef": 0.3, "algo.kl_coef": 0.2, "algo.value_coef": 0.7}
TERMS = ("loss/policy", "loss/value", "loss/entropy", "loss/kl")


@BOTH_ENGINES
@pytest.mark.parametrize("box", [False, True])
def test_weighted_terms_add_up_to_the_total_loss(engine: str, box: bool):
    practice, rollout = stale_rollout(box, WEIGHTS | {"engine": engine})
    row = update_once(practice, rollout, RecordingGenerator())
    assert sum(row[name] for name in TERMS) == pytest.approx(row["loss/total"], rel=1e-5)
    assert row["loss/value"] == pytest.approx(0.7 * row["value/loss"])
    assert row["loss/kl"] == pytest.approx(0.2 * row["policy/kl_penalty"])
    assert row["loss/policy"] == row["policy/loss"]


@BOTH_ENGINES
def test_the_entropy_term_is_minus_the_weighted_entropy(engine: str):
    practice, rollout = stale_rollout(False, WEIGHTS | ZERO_LR | {"engine": engine})
    policy = practice.learner.policy
    dist = policy.dist(rollout.obs.reshape(-1, 3)).astype(np.float64)
    entropy = float(torch.distributions.Categorical(logits=torch.from_numpy(dist)).entropy().mean())
    row = update_once(practice, rollout, RecordingGenerator())
    assert row["loss/entropy"] == pytest.approx(-0.3 * entropy, rel=1e-5)


@BOTH_ENGINES
def test_a_term_with_zero_weight_is_exactly_zero(engine: str):
    practice, rollout = stale_rollout(False, {"algo.entropy_coef": 0.0, "engine": engine})
    row = update_once(practice, rollout, RecordingGenerator())
    assert row["loss/entropy"] == row["loss/kl"] == 0.0


@BOTH_ENGINES
@pytest.mark.parametrize("box", [False, True])
def test_approx_kl_is_the_k3_estimator_over_the_sampled_actions(engine: str, box: bool):
    practice, rollout = stale_rollout(box, {"algo.lr": 0.01, "engine": engine})
    row = update_once(practice, rollout, RecordingGenerator())
    policy = practice.learner.policy
    dist = policy.dist(rollout.obs.reshape(-1, 3)).astype(np.float64)
    action = torch.from_numpy(rollout.action.reshape(-1, *rollout.action.shape[2:]))
    if box:
        mean, log_std = torch.from_numpy(dist).chunk(2, -1)
        now = torch.distributions.Normal(mean, log_std.exp()).log_prob(action).sum(-1).numpy()
    else:
        now = (
            torch.distributions.Categorical(logits=torch.from_numpy(dist)).log_prob(action).numpy()
        )
    ratio = np.exp(now - rollout.logprob.ravel())
    k3 = float((ratio - 1 - np.log(ratio)).mean())
    assert row["policy/approx_kl"] == pytest.approx(k3, rel=1e-3)
    assert row["policy/approx_kl"] == pytest.approx(row["policy/kl"], rel=0.6)


@BOTH_ENGINES
@pytest.mark.parametrize("shared", ["on", "off"])
def test_squared_norms_of_the_parts_add_up_to_the_total(engine: str, shared: str):
    practice, rollout = stale_rollout(False, {"policy.shared": shared, "engine": engine})
    row = update_once(practice, rollout, RecordingGenerator())
    parts = ("actor", "critic", *(["shared"] if shared == "on" else []))
    views = practice.learner.policy.parameters.views
    for part in parts:
        own = [v.ravel() for name, v in views.items() if name.startswith(f"{part}.")]
        size = float(np.linalg.norm(np.concatenate(own).astype(np.float64)))
        assert row[f"optim/param_norm_{part}"] == pytest.approx(size, rel=1e-5)
    for kind in ("grad_norm", "param_norm"):
        names = {name for name in row if name.startswith(f"optim/{kind}_")}
        assert names - {"optim/grad_norm_max"} == {f"optim/{kind}_{part}" for part in parts}
    assert row["optim/param_norm"] == pytest.approx(_whole(row, "param_norm", parts), rel=1e-5)
    share = row["optim/update_norm"] / row["optim/param_norm"]
    assert row["optim/update_share"] == pytest.approx(share)


@BOTH_ENGINES
def test_gradient_norms_per_part_are_of_the_last_step_and_the_maximum_is_over_all_steps(
    engine: str,
):
    settings = {"policy.shared": "on", "algo.epochs": 3, "algo.lr": 0.02, "engine": engine}
    practice, rollout = stale_rollout(False, settings)
    row = update_once(practice, rollout, RecordingGenerator())
    norms = practice.learner.algorithm.gradient_step._losses[:, -1]  # type: ignore[attr-defined]
    last = _whole(row, "grad_norm", ("actor", "critic", "shared"))
    assert last == pytest.approx(norms[-1], rel=1e-4)
    assert row["optim/grad_norm_max"] == norms.max() > row["optim/grad_norm"] > norms.min()


def test_value_errors_are_those_of_the_collected_values():
    practice, rollout = stale_rollout(False, ZERO_LR)
    row = update_once(practice, rollout, RecordingGenerator())
    _, target = rollout.advantages(0.9, 0.8)
    missed = target - rollout.value.astype(np.float64)
    assert row["value/bias"] == pytest.approx(missed.mean())
    rmse = math.sqrt((missed**2).mean())
    assert row["value/rmse_share"] == pytest.approx(rmse / target.std())
    explained = 1 - missed.var() / target.var()
    assert row["value/explained_variance"] == pytest.approx(explained)


def _whole(row: dict[str, float], kind: str, parts: tuple[str, ...]) -> float:
    return math.hypot(*(row[f"optim/{kind}_{part}"] for part in parts))
