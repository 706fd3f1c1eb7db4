"""Golden numbers: metrics of three updates per algorithm and kind of action, stored in golden.json.

They come from the torch engine; the native engine gives the same numbers to a few digits less. A
refactoring may not change them. If a change is intended, say so and regenerate them:

python -m tests.algos.golden
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.algos.harness import LearnerHarness

FILE = Path(__file__).with_name("golden.json")
UPDATES = 3
KINDS: dict[str, dict[str, Any]] = {
    "choice": {"env.kwargs": {"box": False}},
    "amounts": {"env.kwargs": {"box": True}},
    "lstm": {
        "env.kwargs": {"box": False},
        "policy.memory": "lstm:12",
        "policy.memory_shared": False,
        "policy.bptt": 6,
        "policy.burn_in": 2,
    },
    "gru": {
        "env.kwargs": {"box": True},
        "policy.memory": "gru:12x2",
        "policy.memory_shared": True,
        "policy.bptt": 5,
        "policy.burn_in": 0,
    },
}
"""Settings that make each kind of action space, and each memory."""

SETTINGS = {
    "seed": 3,
    "env.n_envs": 4,
    "algo.lr": "1e-3 -> 1e-4 @ 0..500",
    "algo.gamma": 0.95,
    "algo.max_grad_norm": 0.5,
    "algo.adam_eps": 1e-5,
    "algo.weight_decay": 0.001,
    "policy.hidden": [16, 16],
    "policy.activation": "tanh",
    "policy.log_std": -0.5,
    "normalize.obs": "running",
    "normalize.reward": "running",
    "normalize.value": "popart",
}
"""Every setting is given, so that a changed default changes nothing here."""

_CRITIC = {"algo.entropy_coef": 0.01, "algo.value_coef": 0.5, "algo.value_loss": "mse"}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "ppo": {
        **_CRITIC,
        "algo.n_steps": 16,
        "algo.epochs": 3,
        "algo.batch_size": "50%",
        "algo.clip": 0.2,
        "algo.value_clip": 0.2,
        "algo.gae_lambda": 0.9,
        "algo.kl_coef": 0.1,
        "algo.advantage_norm": "minibatch",
    },
    "a2c": {
        **_CRITIC,
        "algo.n_steps": 16,
        "algo.gae_lambda": 0.9,
        "algo.advantage_norm": "rollout",
    },
    "dqn": {
        "algo.n_steps": 16,
        "algo.gradient_steps": 4,
        "algo.batch_size": 32,
        "algo.replay": 256,
        "algo.warmup": 64,
        "algo.epsilon": 0.3,
        "algo.target_every": 3,
        "algo.double": True,
        "normalize.reward": "off",
        "normalize.value": "off",
    },
    "reinforce": {
        **_CRITIC,
        "algo.episodes": 3,
        "algo.returns": "to_go",
        "algo.baseline": "learned",
        "algo.advantage_norm": "rollout",
    },
}
"""Settings that each algorithm adds."""
CASES = [
    f"{algo}/{kind}"
    for algo in ALGORITHMS
    for kind in KINDS
    if (algo, kind) != ("dqn", "amounts")  # DQN needs Discrete actions
    if algo in ("ppo", "a2c") or "policy.memory" not in KINDS[kind]  # the others have no memory
]


def golden_metrics(case: str, engine: str = "torch") -> list[dict[str, float]]:
    """Returns the metrics of each update, and a few sums over the weights after it."""
    algo, kind = case.split("/")
    settings = SETTINGS | ALGORITHMS[algo] | KINDS[kind] | {"engine": engine}
    practice = LearnerHarness.make("Script", settings, algo=algo)
    found = []
    for _ in range(UPDATES):
        rollout = practice.collect()
        metrics = practice.learn(rollout)
        for name, view in practice.learner.policy.parameters.views.items():
            waves = np.cos(np.arange(view.size)).reshape(view.shape)  # order matters
            metrics[f"weights/{name}"] = float((view.astype(np.float64) * waves).sum())
        metrics["rollout/reward"] = float(rollout.reward.sum())
        metrics["rollout/action"] = float(rollout.action.sum(dtype=np.float64))
        found.append({name: float(value) for name, value in metrics.items()})
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps({case: golden_metrics(case) for case in CASES}, indent=1) + "\n")
    print(f"wrote {FILE}")
