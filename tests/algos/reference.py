"""Independent float64 implementations of the algorithms' losses, from the papers, and updates to
compare."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.distributions import Categorical, Independent, Normal, kl_divergence

from gymnast.policy.actions import Gaussian
from gymnast.rollout import Rollout
from tests.algos.harness import LearnerHarness

T, N = 24, 4
ZERO_LR = {"algo.lr": 0.0, "algo.epochs": 1, "algo.max_grad_norm": "off"}
"""Takes an update with a learning rate of 0, which leaves the gradient at the unchanged weights."""
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


_PPO_ONLY = {
    "a2c": ("algo.batch_size", "algo.clip"),
    "reinforce": ("algo.batch_size", "algo.clip", "algo.gae_lambda", "algo.n_steps"),
}


class RecordingGenerator(np.random.Generator):
    """A random generator that records the permutations it returned."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(np.random.Philox(seed))
        self.orders: list[np.ndarray] = []

    def permutation(self, x: Any, axis: int = 0) -> np.ndarray:
        self.orders.append(super().permutation(x, axis))
        return self.orders[-1]


def stale_rollout(
    box: bool, overrides: dict[str, Any], algo: str = "ppo"
) -> tuple[LearnerHarness, Rollout]:
    """Changes the policy after it collected the rollout, so that the ratios are not 1."""
    base = BASE if algo == "ppo" else {k: v for k, v in BASE.items() if k not in _PPO_ONLY[algo]}
    given = base | {"env.kwargs": {"box": box}} | overrides
    practice = LearnerHarness.make("Script", given, algo=algo)
    rng = np.random.default_rng(1)
    flat = practice.learner.policy.parameters
    for view in flat.views.values():
        view += rng.normal(0, 0.2, view.shape).astype(np.float32)
    rollout = practice.collect()
    for view in flat.views.values():
        view += rng.normal(0, 0.03, view.shape).astype(np.float32)
    return practice, rollout


def update_once(
    practice: LearnerHarness, rollout: Rollout, order: np.random.Generator
) -> dict[str, float]:
    return practice.learner.algorithm.update(rollout, practice.hparams, order).metrics


# ---- the losses in float64 ------------------------------------------------------------------------


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


def standardize(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


def forward(practice: LearnerHarness, weights: dict[str, torch.Tensor], obs: np.ndarray):
    def stack(part: str, depth: int) -> torch.Tensor:
        x = torch.from_numpy(obs.astype(np.float64))
        for i in range(0, 2 * depth, 2):
            x = torch.tanh(x @ weights[f"{part}.{i}.weight"] + weights[f"{part}.{i}.bias"])
        return x @ weights[f"{part}.{2 * depth}.weight"] + weights[f"{part}.{2 * depth}.bias"]

    depth = len(practice.cfg.policy.hidden)
    return stack("actor", depth), stack("critic", depth)[:, 0]


def torch_distribution(practice: LearnerHarness, dist: torch.Tensor, mask: np.ndarray | None):
    if isinstance(practice.learner.policy.head, Gaussian):
        mean, log_std = dist.chunk(2, -1)
        return Independent(Normal(mean, log_std.exp()), 1)
    if mask is not None:
        dist = dist.masked_fill(torch.from_numpy(~mask), -torch.inf)
        logp = torch.log_softmax(dist, -1)
        return Categorical(logits=logp.masked_fill(torch.from_numpy(~mask), -1e9))
    return Categorical(logits=dist)


def slow_loss(
    practice: LearnerHarness, rollout: Rollout, chosen: np.ndarray
) -> tuple[Any, dict, dict]:
    """Returns the loss over the chosen steps, its terms, and the weights to differentiate it by."""
    algo, policy = practice.cfg.algo, practice.learner.policy
    value_of = practice.hparams
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
        advantage = standardize(advantage)
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
    gain = (
        standardize(flat["advantage"]) if algo.advantage_norm == "minibatch" else flat["advantage"]
    )

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


def slow_policy_gradient(
    practice: LearnerHarness, rollout: Rollout, advantage: np.ndarray, target: np.ndarray | None
) -> tuple[Any, dict[str, torch.Tensor]]:
    """Returns the loss over valid steps, and the weights to differentiate it by.

    The loss is -mean(log pi(a|s) A), plus the critic's squared error if there are targets, minus the
    entropy bonus.
    """
    algo, keep = practice.hparams, rollout.valid
    weights = {
        name: torch.from_numpy(view.astype(np.float64)).requires_grad_()
        for name, view in practice.learner.policy.parameters.views.items()
    }
    output, value = forward(practice, weights, rollout.obs[keep])
    if "actor.log_std" in weights:
        output = torch.cat([output, weights["actor.log_std"].expand_as(output)], -1)
    dist = torch_distribution(practice, output, None)
    gain = torch.from_numpy(advantage[keep])
    loss = -(dist.log_prob(torch.from_numpy(rollout.action[keep])) * gain).mean()
    if target is not None:
        loss = loss + algo.value_coef * ((value - torch.from_numpy(target[keep])) ** 2).mean()
    return loss - algo.entropy_coef * dist.entropy().mean(), weights


def assert_same_gradient(practice: LearnerHarness, weights: dict[str, torch.Tensor]) -> None:
    parameters = practice.learner.policy.parameters
    gradient = parameters.views_of(practice.learner.algorithm.gradient_step.engine.gradient)
    expected = {name: _grad(w) for name, w in weights.items()}
    size = max(float(np.abs(g).max()) for g in expected.values())
    assert size > 1e-3
    for name, grad in expected.items():
        assert np.allclose(gradient[name], grad, rtol=1e-3, atol=2e-5 * size), name


def _grad(weight: torch.Tensor) -> np.ndarray:
    return np.zeros(weight.shape) if weight.grad is None else weight.grad.numpy()
