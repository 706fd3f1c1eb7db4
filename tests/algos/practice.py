"""A learner and its environments without a run around them: collect, learn, repeat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gymnast.clock import Clock
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from gymnast.training.control import Control
from gymnast.training.learner import Learner
from gymnast.training.session import open_collector


@dataclass
class Practice:
    cfg: Config[Any]
    collector: VectorCollector
    learner: Learner
    clock: Clock = field(default_factory=Clock)

    @classmethod
    def on(cls, env: str, overrides: dict[str, Any], algo: str | None = None) -> Practice:
        """`env`: a name in `tests.scripted`."""
        given = {"stop.env_steps": 1_000_000} | overrides
        cfg = resolve(f"py:tests.scripted:{env}", given, algo=algo).config
        collector = open_collector(cfg)
        collector.begin()
        learner = Learner("agent", *collector.spaces["agent"], cfg)
        return cls(cfg, collector, learner, Clock(limits=cfg.stop.limits()))

    def collect(self) -> Rollout:
        policies = {"agent": self.learner.policy}
        found = self.collector.collect(policies, self.cfg.algo.span(), self.clock)
        return found.rollouts["agent"]

    def learn(self, rollout: Rollout) -> dict[str, float]:
        values = Control(self.cfg.algo).values(self.clock)
        order = stream(self.cfg.seed, "batch", "agent", self.clock.rollouts)
        metrics = self.learner.learn(rollout, values, order)
        self.clock.rollouts += 1
        self.clock.env_steps += rollout.steps
        return metrics

    def repeat(self, rollouts: int) -> list[dict[str, float]]:
        return [self.learn(self.collect()) for _ in range(rollouts)]
