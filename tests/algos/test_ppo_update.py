"""PPO's update against the same mathematics written anew, in float64, from the paper."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, Independent, Normal, kl_divergence

from gymnast.config.resolve import resolve
from gymnast.policy.actions import Gaussian
from gymnast.rollout import Rollout, minibatches
from gymnast.seeds import stream
from gymnast.training.control import Control
from tests.algos.practice import Practice

T, N = 24, 4
STILL = {"algo.lr": 0.0, "algo.epochs": 1, "algo.max_grad_norm": "off"}
"""A learning rate of 0: the gradient is left in place, of the weights as they were."""
BASE = {
    "env.n_envs": N,
    "algo.n_steps": T,
    "algo.batch_size": "50%",
    "algo.gamma": 0.9,
    "algo.gae_lambda": 0.8,
    "algo.clip": 0.2,
    "policy.hidden": [16, 8],
    "normalize.obs": "off",
    "normalize.reward": "off",
}


class Recorded(np.random.Generator):
    """A stream that remembers the orders it gave."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(np.random.Philox(seed))
        self.orders: list[np.ndarray] = []

    def permutation(self, x: Any, axis: int = 0) -> np.ndarray:
        self.orders.append(super().permutation(x, axis))
        return self.orders[-1]


def practised(box: bool, overrides: dict[str, Any]) -> tuple[Practice, Rollout]:
    """A policy that has moved on since it collected the rollout, so that ratios are not 1."""
    given = BASE | {"env.kwargs": {"box": box}} | overrides
    practice = Practice.on("Script", given)
    rng = np.random.default_rng(1)
    flat = practice.learner.policy.parameters
    for view in flat.views.values():
        view += rng.normal(0, 0.2, view.shape).astype(np.float32)
    rollout = practice.collect()
    for view in flat.views.values():
        view += rng.normal(0, 0.03, view.shape).astype(np.float32)
    return practice, rollout


def updated(practice: Practice, rollout: Rollout, order: np.random.Generator) -> dict[str, float]:
    values = Control(practice.cfg.algo).values(practice.clock)
    return practice.learner.algorithm.update(rollout, values, order)


# ---- the same once more, in float64 ------------------------------------------------------------


def slow_advantages(rollout: Rollout, gamma: float, lam: float) -> np.ndarray:
    advantage = np.zeros((T, N))
    for n in range(N):
        for t in range(T):
            weight = 1.0
            for k in range(t, T):
                after = 0.0 if rollout.terminated[k, n] else float(rollout.next_value[k, n])
                delta = rollout.reward[k, n] + gamma * after - float(rollout.value[k, n])
                advantage[t, n] += weight * delta
                weight *= gamma * lam
                if rollout.done[k, n]:
                    break
    return advantage


def normal(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


def forward(practice: Practice, weights: dict[str, torch.Tensor], obs: np.ndarray):
    def stack(part: str, depth: int) -> torch.Tensor:
        x = torch.from_numpy(obs.astype(np.float64))
        for i in range(0, 2 * depth, 2):
            x = torch.tanh(x @ weights[f"{part}.{i}.weight"] + weights[f"{part}.{i}.bias"])
        return x @ weights[f"{part}.{2 * depth}.weight"] + weights[f"{part}.{2 * depth}.bias"]

    depth = len(practice.cfg.policy.hidden)
    return stack("actor", depth), stack("critic", depth)[:, 0]


def torch_distribution(practice: Practice, dist: torch.Tensor, mask: np.ndarray | None):
    if isinstance(practice.learner.policy.head, Gaussian):
        mean, log_std = dist.chunk(2, -1)
        return Independent(Normal(mean, log_std.exp()), 1)
    if mask is not None:
        dist = dist.masked_fill(torch.from_numpy(~mask), -torch.inf)
        logp = torch.log_softmax(dist, -1)
        return Categorical(logits=logp.masked_fill(torch.from_numpy(~mask), -1e9))
    return Categorical(logits=dist)


def slow_loss(practice: Practice, rollout: Rollout, chosen: np.ndarray) -> tuple[Any, dict, dict]:
    """The loss over the chosen steps, its parts, and the weights it can be differentiated by."""
    algo, policy = practice.cfg.algo, practice.learner.policy
    value_of = Control(algo).values(practice.clock)
    weights = {
        name: torch.from_numpy(view.astype(np.float64)).requires_grad_()
        for name, view in policy.parameters.views.items()
    }
    advantage = slow_advantages(rollout, algo.gamma, algo.gae_lambda)
    target = advantage + rollout.value
    old_value = rollout.value.astype(np.float64)
    if practice.cfg.normalize.value == "popart":
        mean, std = target.mean(), target.std()
        old_value, target = (old_value - mean) / std, (target - mean) / std
    if algo.advantage_norm == "rollout":
        advantage = normal(advantage)
    keep = rollout.valid.ravel()
    flat = {
        "obs": rollout.obs.reshape(T * N, -1),
        "action": rollout.action.reshape(T * N, *rollout.action.shape[2:]),
        "dist": rollout.dist.reshape(T * N, -1),
        "advantage": advantage.ravel(),
        "target": target.ravel(),
        "old": old_value.ravel(),
    }
    flat = {name: column[keep][chosen] for name, column in flat.items()}
    mask = None if rollout.mask is None else rollout.mask.reshape(T * N, -1)[keep][chosen]
    gain = normal(flat["advantage"]) if algo.advantage_norm == "minibatch" else flat["advantage"]

    output, value = forward(practice, weights, flat["obs"])
    if "actor.log_std" in weights:
        output = torch.cat([output, weights["actor.log_std"].expand_as(output)], -1)
    new = torch_distribution(practice, output, mask)
    old = torch_distribution(practice, torch.from_numpy(flat["dist"]).double(), mask)
    action = torch.from_numpy(flat["action"])
    ratio = (new.log_prob(action) - old.log_prob(action)).exp()
    gain, target, before = (
        torch.from_numpy(np.asarray(x)) for x in (gain, flat["target"], flat["old"])
    )

    held = ratio.clamp(1 - value_of.clip, 1 + value_of.clip)
    surrogate = -torch.min(ratio * gain, held * gain).mean()

    def error(v: torch.Tensor) -> torch.Tensor:
        distance = (v - target).abs()
        if algo.value_loss == "mse":
            return distance**2
        return torch.where(distance < 1, distance**2, 2 * distance - 1)

    critic = error(value)
    if value_of.value_clip is not None:
        near = before + (value - before).clamp(-value_of.value_clip, value_of.value_clip)
        critic = torch.max(critic, error(near))
    divergence = kl_divergence(old, new).mean()
    loss = surrogate + value_of.value_coef * critic.mean()
    loss = loss - value_of.entropy_coef * new.entropy().mean() + value_of.kl_coef * divergence
    parts = {"policy/loss": surrogate, "value/loss": critic.mean(), "loss/total": loss}
    return loss, {name: float(x.detach()) for name, x in parts.items()}, weights


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "advantages as they are": {"algo.advantage_norm": "off"},
    "advantages over the rollout": {"algo.advantage_norm": "rollout"},
    "value clip": {"algo.value_clip": 0.05},
    "huber": {"algo.value_loss": "huber"},
    "huber and value clip": {"algo.value_loss": "huber", "algo.value_clip": 0.05},
    "kl penalty": {"algo.kl_coef": 0.7},
    "entropy bonus": {"algo.entropy_coef": 0.3},
    "popart": {"normalize.value": "popart", "algo.value_clip": 0.05},
    "narrow clip": {"algo.clip": 0.01},
    "value weight": {"algo.value_coef": 3.0},
}


@pytest.mark.parametrize("box", [False, True], ids=["choice", "amounts"])
@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_the_gradient_is_that_of_the_loss_written_anew(box: bool, settings: dict[str, Any]):
    practice, rollout = practised(box, STILL | settings)
    order = Recorded()
    metrics = updated(practice, rollout, order)
    halves = np.array_split(order.orders[0], 2)
    loss, _, weights = slow_loss(practice, rollout, halves[-1])
    loss.backward()
    _same_gradient(practice, weights)

    reported = [slow_loss(practice, rollout, half)[1] for half in halves]
    for name in reported[0]:
        expected = np.mean([parts[name] for parts in reported])
        assert metrics[name] == pytest.approx(expected, rel=1e-4, abs=1e-5), name


def test_what_a_mask_forbids_takes_no_part_in_the_gradient():
    practice, rollout = practised(False, STILL | {"algo.entropy_coef": 0.3, "algo.kl_coef": 0.7})
    head = practice.learner.policy.head
    mask = np.random.default_rng(2).random(rollout.dist.shape) < 0.6
    np.put_along_axis(mask, rollout.action[..., None], True, -1)
    dist = head.parameters(rollout.dist, None, mask)
    logprob = head.logprob(dist, rollout.action)
    rollout = replace(rollout, mask=mask, dist=dist, logprob=logprob)
    order = Recorded()
    metrics = updated(practice, rollout, order)
    loss, _, weights = slow_loss(practice, rollout, np.array_split(order.orders[0], 2)[-1])
    loss.backward()
    _same_gradient(practice, weights)
    assert metrics["policy/entropy"] < math.log(3)


def test_steps_out_of_play_are_not_learned_from():
    practice, rollout = practised(False, STILL | {"algo.advantage_norm": "off"})
    valid = np.random.default_rng(3).random((T, N)) < 0.5
    rollout = replace(rollout, valid=valid)
    order = Recorded()
    updated(practice, rollout, order)
    size = practice.cfg.algo.minibatch(T * N)
    (n_batches,) = {-(-int(valid.sum()) // size)}
    last = np.array_split(order.orders[0], n_batches)[-1]
    assert sum(map(len, order.orders)) == valid.sum()
    loss, _, weights = slow_loss(practice, rollout, last)
    loss.backward()
    _same_gradient(practice, weights)


def _same_gradient(practice: Practice, weights: dict[str, torch.Tensor]) -> None:
    parameters = practice.learner.policy.parameters
    gradient = parameters.views_of(practice.learner.algorithm.network.gradient)
    size = max(float(w.grad.abs().max()) for w in weights.values())
    assert size > 1e-3
    for name, weight in weights.items():
        assert np.allclose(gradient[name], weight.grad.numpy(), rtol=1e-3, atol=2e-5 * size), name


# ---- how an update goes ------------------------------------------------------------------------


def test_one_step_moves_the_weights_as_adam_does():
    practice, rollout = practised(
        False, {"algo.epochs": 1, "algo.batch_size": "100%", "algo.lr": 0.01, "algo.adam_eps": 1.0}
    )
    before = {n: v.copy() for n, v in practice.learner.policy.parameters.views.items()}
    order = Recorded()
    loss, _, weights = slow_loss(practice, rollout, np.arange(T * N))
    loss.backward()
    norm = math.sqrt(sum(float((w.grad**2).sum()) for w in weights.values()))
    metrics = updated(practice, rollout, order)
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


def test_gradient_norms_of_actor_and_critic_are_parts_of_the_whole_before_clipping():
    settings = {"algo.epochs": 1, "algo.batch_size": "100%", "algo.max_grad_norm": 1e-3}
    practice, rollout = practised(True, settings)
    loss, _, weights = slow_loss(practice, rollout, np.arange(T * N))
    loss.backward()
    metrics = updated(practice, rollout, Recorded())
    for part in ("actor", "critic"):
        every = [float((w.grad**2).sum()) for name, w in weights.items() if name.startswith(part)]
        found = metrics[f"optim/grad_norm_{part}"]
        assert found == pytest.approx(math.sqrt(sum(every)), rel=1e-3), part
    whole = math.hypot(metrics["optim/grad_norm_actor"], metrics["optim/grad_norm_critic"])
    assert metrics["optim/grad_norm"] == pytest.approx(whole, rel=1e-4)


def test_gradients_are_limited_only_where_a_limit_is_set():
    for limit, share in (("off", 0.0), (1e-3, 1.0), (1e6, 0.0)):
        practice, rollout = practised(False, STILL | {"algo.max_grad_norm": limit})
        metrics = updated(practice, rollout, Recorded())
        assert metrics["optim/clipped_share"] == share
        applied = np.linalg.norm(practice.learner.algorithm.network.gradient)
        if limit == 1e-3:
            assert applied == pytest.approx(1e-3, rel=1e-2)
            assert metrics["optim/grad_norm"] > 0.1
        else:
            assert applied > 0.1


def test_minibatches_are_shuffled_anew_in_every_epoch():
    practice, rollout = practised(False, {"algo.epochs": 5})
    order = Recorded()
    updated(practice, rollout, order)
    assert len(order.orders) == 5
    assert len({tuple(o) for o in order.orders}) == 5
    assert all(sorted(o) == list(range(T * N)) for o in order.orders)


@pytest.mark.parametrize(("n", "size"), [(96, 24), (96, 96), (97, 24), (5, 1), (7, 100), (10, 4)])
def test_minibatches_hold_every_step_once_and_differ_in_size_by_one_at_most(n: int, size: int):
    batches = list(minibatches(np.arange(n), size, stream(0, "order")))
    assert sorted(np.concatenate(batches)) == list(range(n))
    sizes = {len(batch) for batch in batches}
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert len(batches) == math.ceil(n / size)


def test_target_kl_ends_one_update_and_not_the_next():
    practice, rollout = practised(False, {"algo.epochs": 6, "algo.lr": 0.05})
    free = Control(practice.cfg.algo).values(practice.clock)
    strict = free.model_copy(update={"target_kl": 1e-6})
    loose = free.model_copy(update={"target_kl": 1e6})
    learn = practice.learner.algorithm.update
    metrics = [learn(rollout, values, Recorded()) for values in (strict, loose, strict, free)]
    assert [m["optim/epochs"] for m in metrics] == [1, 6, 1, 6]
    assert [m["optim/kl_stop"] for m in metrics] == [1.0, 0.0, 1.0, 0.0]
    assert metrics[0]["policy/kl"] > 1e-6


def test_the_optimiser_forgets_only_where_the_learning_rate_jumps_that_far():
    practice, rollout = practised(False, {"algo.epochs": 1, "algo.batch_size": "100%"})
    base = Control(practice.cfg.algo).values(practice.clock)
    algorithm = practice.learner.algorithm

    def steps_after(lr: float, factor: float | None) -> int:
        values = base.model_copy(update={"lr": lr, "reset_optimizer_on_lr_jump": factor})
        algorithm.update(rollout, values, Recorded())
        return algorithm.optimizer.steps

    assert [steps_after(1e-3, 3.0), steps_after(5e-4, 3.0), steps_after(1e-3, 3.0)] == [1, 2, 3]
    assert steps_after(1e-4, 3.0) == 1  # down by ten
    assert steps_after(1e-3, 3.0) == 1  # and up
    assert steps_after(1e-5, None) == 2  # not asked for
    assert steps_after(0.0, 3.0) == 3  # nothing is a factor away from nothing
    assert steps_after(1e-3, 3.0) == 4


def test_the_optimiser_and_its_last_learning_rate_come_back_from_their_state():
    settings = {"algo.epochs": 2, "algo.reset_optimizer_on_lr_jump": 3}
    first, rollout = practised(False, settings)
    second, _ = practised(False, settings)
    updated(first, rollout, Recorded())
    second.learner.policy.load(first.learner.policy.arrays())
    arrays, plain = first.learner.state()
    second.learner.load(arrays, plain, optimizer=True)
    for practice in (first, second):
        updated(practice, rollout, Recorded(5))
    flats = [p.learner.policy.parameters.flat for p in (first, second)]
    assert np.array_equal(*flats)
    assert second.learner.algorithm.last_lr == first.learner.algorithm.last_lr


@pytest.mark.parametrize("box", [False, True], ids=["choice", "amounts"])
def test_how_far_the_policy_moved_is_measured_against_the_one_that_acted(box: bool):
    practice, rollout = practised(box, {"algo.epochs": 3, "algo.lr": 0.01})
    metrics = updated(practice, rollout, Recorded())
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


def test_values_targets_and_advantages_are_reported_as_they_were_before_the_update():
    practice, rollout = practised(False, {"algo.epochs": 4, "algo.lr": 0.05})
    metrics = updated(practice, rollout, Recorded())
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


def test_an_update_is_a_function_of_its_inputs():
    results = []
    for _ in range(2):
        practice, rollout = practised(True, {"algo.epochs": 3})
        results.append((updated(practice, rollout, Recorded(3)), practice))
    assert results[0][0] == results[1][0]
    flats = [p.learner.policy.parameters.flat for _, p in results]
    assert np.array_equal(*flats)


def test_a_share_of_the_rollout_follows_its_size_and_a_count_does_not():
    for batch_size, steps in (("25%", 4), ("100%", 1), (24, 4), (1, 96), (50, 2)):
        practice, rollout = practised(False, {"algo.epochs": 1, "algo.batch_size": batch_size})
        assert updated(practice, rollout, Recorded())["optim/steps"] == steps


def test_every_number_an_update_reports_is_declared():
    from gymnast.metrics.specs import declared

    cfg = resolve("CartPole-v1").config
    practice, rollout = practised(True, {"normalize.value": "popart", "normalize.obs": "running"})
    metrics = practice.learn(rollout)
    metrics.pop("optim/steps")  # counted on the clock
    assert set(metrics) <= set(declared(cfg))
