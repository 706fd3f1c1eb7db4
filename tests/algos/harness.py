"""A learner with its environments, without a run: collect, learn, repeat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from gymnast.clock import Clock
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner

IDENTITY = "tests.identity:Identity"
ACTION_SPACES: dict[str, dict[str, Any]] = {
    "choice": {"env.kwargs": {"action": "choice"}},
    "masked choice": {"env.kwargs": {"action": "choice", "masked": True}},
    "choices": {"env.kwargs": {"action": "choices"}},
    "masked choices": {"env.kwargs": {"action": "choices", "masked": True}},
    "integers": {"env.kwargs": {"action": "integers"}},
    "switches": {"env.kwargs": {"action": "switches"}},
    "masked switches": {"env.kwargs": {"action": "switches", "masked": True}},
    "amounts": {"env.kwargs": {"action": "amounts"}, "policy.log_std": -1.0},
    "squashed amounts": {
        "env.kwargs": {"action": "amounts"},
        "policy.squash": "on",
        "policy.log_std": -1.0,
    },
    "tuple": {"env.kwargs": {"action": "tuple"}, "policy.log_std": -1.0},
    "masked dict": {"env.kwargs": {"action": "dict", "masked": True}, "policy.log_std": -1.0},
}
"""Kind of action -> settings of the identity environment with it."""
ENGINES = ("native", "torch")
BOTH_ENGINES = pytest.mark.parametrize("engine", ENGINES)
OBSERVATION_SPACES = [
    *("vector", "category", "categories", "binary", "image", "grey image", "parts", "tuple"),
]


@dataclass
class LearnerHarness:
    cfg: Config
    collector: VectorCollector
    learner: Learner
    clock: Clock = field(default_factory=Clock)

    @classmethod
    def make(cls, env: str, overrides: dict[str, Any], algo: str | None = None) -> LearnerHarness:
        """`env` is a name in `tests.scripted`, or `module:Name`."""
        given = {"stop.env_steps": 1_000_000} | overrides
        path = env if ":" in env else f"tests.scripted:{env}"
        cfg = resolve(f"py:{path}", given, algo=algo).config
        collector = open_collector(cfg)
        collector.start_episodes()
        learner = Learner("agent", *collector.spaces["agent"], cfg)
        return cls(cfg, collector, learner, Clock(limits=cfg.stop.limits()))

    @property
    def hparams(self) -> Any:
        """The algorithm's hyperparameters at the present clock."""
        return self.cfg.algo.values_at(self.clock)

    def collect(self) -> Rollout:
        policies = {"agent": self.learner.policy}
        found = self.collector.collect(policies, self.hparams.rollout_length(), self.clock)
        return found.rollouts["agent"]

    def learn(self, rollout: Rollout) -> dict[str, float]:
        order = stream(self.cfg.seed, "batch", "agent", self.clock.rollouts)
        metrics = self.learner.update(rollout, self.hparams, order).metrics
        self.clock.rollouts += 1
        self.clock.env_steps += rollout.steps
        return metrics

    def repeat(self, rollouts: int) -> list[dict[str, float]]:
        return [self.learn(self.collect()) for _ in range(rollouts)]

    def greedy_reward(self, episodes: int = 40) -> float:
        """Returns the mean reward per step of the greedy policy, at most 1 in an identity
        environment."""
        envs, policy = self.collector.envs, self.learner.policy
        every = list(range(envs.n_envs))
        total = 0.0
        for first in range(0, episodes * 1000, 1000):
            envs.reset(every, [first + copy for copy in every])
            action = policy.act(envs.obs, None, envs.mask)[0]
            total += float(envs.step(policy.head.for_env(action)).reward.mean())
        return total / episodes
