"""The steps of a PPO update: gradient steps, epochs, early stopping and metrics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import kl_divergence

from gymnast.config.resolve import resolve
from gymnast.engine.batch import MinibatchPlan
from gymnast.seeds import stream
from tests.algos.harness import BOTH_ENGINES
from tests.algos.reference import (
    ZERO_LR,
    N,
    RecordingGenerator,
    T,
    slow_advantages,
    slow_loss,
    stale_rollout,
    torch_distribution,
    update_once,
)


@BOTH_ENGINES
def test_one_step_changes_the_weights_as_adam_does(engine: str):
    practice, rollout = stale_rollout(
        False,
        {
            "algo.epochs": 1,
            "algo.batch_size": "100%",
            "algo.lr": 0.01,
            "algo.adam_eps": 1.0,
            "engine": engine,
        },
    )
    before = {n: v.copy() for n, v in practice.learner.policy.parameters.views.items()}
    order = RecordingGenerator()
    loss, _, weights = slow_loss(practice, rollout, np.arange(T * N))
    loss.backward()
    norm = math.sqrt(sum(float((w.grad**2).sum()) for w in weights.values()))
    metrics = update_once(practice, rollout, order)
    assert metrics["optim/grad_norm"] == pytest.approx(norm, rel=1e-4)
    shorten = min(1.0, 0.5 / norm)
    moved = 0.0
    for name, weight in weights.items():
        g = weight.grad.numpy() * shorten
        expected = before[name] - 0.01 * g / (np.abs(g) + 1.0)
        now = practice.learner.policy.parameters.views[name]
        assert np.allclose(now, expected, atol=1e-6), name
        moved += float(((now.astype(np.float64) - before[name]) ** 2).sum())
    assert metrics["optim/update_norm"] == pytest.approx(math.sqrt(moved), rel=1e-3)
    assert metrics["optim/clipped_share"] == float(norm > 0.5)
    assert metrics["optim/steps"] == 1


def test_gradient_norms_of_actor_and_critic_are_measured_before_clipping():
    settings = {"algo.epochs": 1, "algo.batch_size": "100%", "algo.max_grad_norm": 1e-3}
    practice, rollout = stale_rollout(True, settings)
    loss, _, weights = slow_loss(practice, rollout, np.arange(T * N))
    loss.backward()
    metrics = update_once(practice, rollout, RecordingGenerator())
    for part in ("actor", "critic"):
        every = [float((w.grad**2).sum()) for name, w in weights.items() if name.startswith(part)]
        found = metrics[f"optim/grad_norm_{part}"]
        assert found == pytest.approx(math.sqrt(sum(every)), rel=1e-3), part
    whole = math.hypot(metrics["optim/grad_norm_actor"], metrics["optim/grad_norm_critic"])
    assert metrics["optim/grad_norm"] == pytest.approx(whole, rel=1e-4)


@BOTH_ENGINES
def test_gradients_are_clipped_only_if_max_grad_norm_is_set(engine: str):
    for limit, share in (("off", 0.0), (1e-3, 1.0), (1e6, 0.0)):
        settings = {"algo.max_grad_norm": limit, "engine": engine}
        practice, rollout = stale_rollout(False, ZERO_LR | settings)
        metrics = update_once(practice, rollout, RecordingGenerator())
        assert metrics["optim/clipped_share"] == share
        applied = np.linalg.norm(practice.learner.algorithm.gradient_step.engine.gradient)
        if limit == 1e-3:
            assert applied == pytest.approx(1e-3, rel=1e-2)
            assert metrics["optim/grad_norm"] > 0.1
        else:
            assert applied > 0.1


def test_minibatches_are_reshuffled_in_every_epoch():
    practice, rollout = stale_rollout(False, {"algo.epochs": 5})
    order = RecordingGenerator()
    update_once(practice, rollout, order)
    assert len(order.orders) == 5
    assert len({tuple(o) for o in order.orders}) == 5
    assert all(sorted(o) == list(range(T * N)) for o in order.orders)


@pytest.mark.parametrize(("n", "size"), [(96, 24), (96, 96), (97, 24), (5, 1), (7, 100), (10, 4)])
def test_minibatches_contain_every_step_once_and_differ_in_size_by_at_most_one(n: int, size: int):
    passes = MinibatchPlan.shuffled(1, n, size, stream(0, "order"), None)
    batches = list(passes.minibatches(passes.orders[0]))
    assert sorted(np.concatenate(batches)) == list(range(n))
    sizes = {len(batch) for batch in batches}
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert len(batches) == math.ceil(n / size)


@BOTH_ENGINES
def test_target_kl_stops_one_update_early_and_not_the_next(engine: str):
    settings = {"algo.epochs": 6, "algo.lr": 0.05, "engine": engine}
    practice, rollout = stale_rollout(False, settings)
    free = practice.hparams
    strict = replace(free, target_kl=1e-6)
    loose = replace(free, target_kl=1e6)
    learn = practice.learner.algorithm.update
    metrics = [
        learn(rollout, values, RecordingGenerator()).metrics
        for values in (strict, loose, strict, free)
    ]
    assert [m["optim/epochs"] for m in metrics] == [1, 6, 1, 6]
    assert [m["optim/kl_stop"] for m in metrics] == [1.0, 0.0, 1.0, 0.0]
    assert metrics[0]["policy/kl"] > 1e-6


def test_the_optimizer_is_reset_only_if_the_learning_rate_jumps_by_more_than_the_factor():
    practice, rollout = stale_rollout(False, {"algo.epochs": 1, "algo.batch_size": "100%"})
    base = practice.hparams
    algorithm = practice.learner.algorithm

    def steps_after(lr: float, factor: float | None) -> int:
        values = replace(base, lr=lr, reset_optimizer_on_lr_jump=factor)
        algorithm.update(rollout, values, RecordingGenerator())
        return algorithm.gradient_step.adam.steps

    assert [steps_after(1e-3, 3.0), steps_after(5e-4, 3.0), steps_after(1e-3, 3.0)] == [1, 2, 3]
    assert steps_after(1e-4, 3.0) == 1  # falls by a factor of ten
    assert steps_after(1e-3, 3.0) == 1  # rises by a factor of ten
    assert steps_after(1e-5, None) == 2  # the option is off
    assert steps_after(0.0, 3.0) == 3  # a learning rate of 0 has no factor
    assert steps_after(1e-3, 3.0) == 4


def test_the_optimizer_and_its_last_learning_rate_are_restored_from_their_state():
    settings = {"algo.epochs": 2, "algo.reset_optimizer_on_lr_jump": 3}
    first, rollout = stale_rollout(False, settings)
    second, _ = stale_rollout(False, settings)
    update_once(first, rollout, RecordingGenerator())
    second.learner.policy.load(first.learner.policy.arrays())
    arrays, plain = first.learner.state()
    second.learner.load(arrays, plain, optimizer=True)
    for practice in (first, second):
        update_once(practice, rollout, RecordingGenerator(5))
    flats = [p.learner.policy.parameters.flat for p in (first, second)]
    assert np.array_equal(*flats)
    assert (
        second.learner.algorithm.gradient_step._last_lr
        == first.learner.algorithm.gradient_step._last_lr
    )


@BOTH_ENGINES
@pytest.mark.parametrize("box", [False, True], ids=["choice", "amounts"])
def test_kl_and_ratios_are_measured_against_the_collecting_policy(box: bool, engine: str):
    practice, rollout = stale_rollout(box, {"algo.epochs": 3, "algo.lr": 0.01, "engine": engine})
    metrics = update_once(practice, rollout, RecordingGenerator())
    policy = practice.learner.policy
    new_dist = torch.from_numpy(policy.dist(rollout.obs.reshape(T * N, -1))).double()
    old_dist = torch.from_numpy(rollout.dist.reshape(T * N, -1)).double()
    new, old = (torch_distribution(practice, d, None) for d in (new_dist, old_dist))
    action = torch.from_numpy(rollout.action.reshape(T * N, *rollout.action.shape[2:]))
    ratio = (new.log_prob(action) - old.log_prob(action)).exp()
    expected = {
        "policy/kl": kl_divergence(old, new).mean(),
        "policy/entropy": new.entropy().mean(),
        "policy/ratio_mean": ratio.mean(),
        "policy/ratio_max": ratio.max(),
        "policy/clip_fraction": ((ratio - 1).abs() > 0.2).double().mean(),
    }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(float(value), rel=1e-4, abs=1e-6), name


def test_value_metrics_describe_the_rollout_before_the_update():
    practice, rollout = stale_rollout(False, {"algo.epochs": 4, "algo.lr": 0.05})
    metrics = update_once(practice, rollout, RecordingGenerator())
    advantage = slow_advantages(rollout, 0.9, 0.8)
    target = advantage + rollout.value
    expected = {
        "advantage/mean": advantage.mean(),
        "advantage/std": advantage.std(),
        "advantage/min": advantage.min(),
        "advantage/max": advantage.max(),
        "value/mean": rollout.value.mean(),
        "value/std": rollout.value.std(),
        "value/target_mean": target.mean(),
        "value/target_std": target.std(),
        "value/explained_variance": 1 - (target - rollout.value).var() / target.var(),
    }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(float(value), rel=1e-5, abs=1e-6), name


@BOTH_ENGINES
def test_an_update_is_a_pure_function_of_its_inputs(engine: str):
    results = []
    for _ in range(2):
        practice, rollout = stale_rollout(True, {"algo.epochs": 3, "engine": engine})
        results.append((update_once(practice, rollout, RecordingGenerator(3)), practice))
    assert results[0][0] == results[1][0]
    flats = [p.learner.policy.parameters.flat for _, p in results]
    assert np.array_equal(*flats)


def test_a_batch_size_in_percent_scales_with_the_rollout_and_a_count_does_not():
    for batch_size, steps in (("25%", 4), ("100%", 1), (24, 4), (1, 96), (50, 2)):
        settings = {"algo.epochs": 1, "algo.batch_size": batch_size}
        practice, rollout = stale_rollout(False, settings | {"algo.advantage_norm": "rollout"})
        assert update_once(practice, rollout, RecordingGenerator())["optim/steps"] == steps


def test_every_metric_of_an_update_is_declared():
    from gymnast.metrics.specs import run_metrics

    cfg = resolve("CartPole-v1").config
    practice, rollout = stale_rollout(
        True, {"normalize.value": "popart", "normalize.obs": "running"}
    )
    metrics = practice.learn(rollout)
    metrics.pop("optim/steps")  # counted on the clock
    assert set(metrics) <= set(run_metrics(cfg))
