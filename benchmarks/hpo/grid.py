"""The configurations of the table: the PPO space of HPO-RL-Bench (Shala et al. 2024) on four tasks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

TASKS = ("CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1")
LEARNING_RATES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
GAMMAS = (0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
CLIPS = (0.2, 0.3, 0.4)
"""These values are those of `benchmark_handler.py` in github.com/releaunifreiburg/HPO-RL-Bench."""

BUDGET = 100_000
"""Env steps of one training."""
EVERY = 5_000
"""Env steps between evaluations."""
POINTS = BUDGET // EVERY
"""Evaluations of one training."""
EPISODES = 10
"""Episodes of one evaluation, on the same seeds for every policy."""

SETTINGS: dict[str, object] = {
    "env.n_envs": 20,
    "algo.n_steps": 125,
    "algo.batch_size": 125,
    "algo.epochs": 10,
    "algo.gae_lambda": 0.95,
    "algo.entropy_coef": 0,
    "policy.hidden": [64, 64],
    "policy.activation": "tanh",
    "normalize.obs": "running",
    "normalize.reward": "running",
    "stop.env_steps": BUDGET,
    "stop.solved": "off",
    "stop.eval_return": "off",
    "eval.every": f"{EVERY} env_steps",
    "eval.episodes": EPISODES,
    "eval.n_envs": EPISODES,
    "eval.mode": "inline",
    "eval.wait": "on",
    "eval.warmup": "off",
    "traces.train": 0,
    "threads": 1,
}
"""All other settings, the same for every task; nothing of a preset is left. Like the defaults of SB3, except:
20 copies x 125 steps instead of 1 x 2048, minibatches of 125 instead of 64, and observations and rewards are
normalized, as in rl-zoo for MountainCar, which plain PPO does not solve otherwise."""
TASK_SETTINGS: dict[str, dict[str, object]] = {"MountainCar-v0": {"shaping.count.weight": 0}}
"""Task -> settings that turn off what its preset adds to the rewards."""


@dataclass(frozen=True)
class Configuration:
    lr: float
    gamma: float
    clip: float

    def settings(self) -> dict[str, object]:
        """Returns the config keys and their values."""
        return {"algo.lr": self.lr, "algo.gamma": self.gamma, "algo.clip": self.clip}


CONFIGURATIONS = tuple(Configuration(*values) for values in product(LEARNING_RATES, GAMMAS, CLIPS))
"""The 108 configurations, in the order of the table."""


def settings_of(task: str, configuration: Configuration, seed: int) -> dict[str, object]:
    """Returns every setting of one training."""
    return {**SETTINGS, **TASK_SETTINGS.get(task, {}), **configuration.settings(), "seed": seed}
