"""The tasks of the comparison: the same environments, settings and number of env copies everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.distributed.environments import BURN_SECONDS, SLEEP_SECONDS

COSTLY = "benchmarks.distributed.environments:Costly"
LOGGED = "benchmarks.distributed.environments:Logged"


@dataclass(frozen=True)
class DistributedTask:
    name: str
    env: str
    """Id of the environment, or `module:Class`."""
    n_envs: int
    """Env copies of the whole run, divided among the hosts."""
    n_steps: int
    """Steps of each copy per rollout."""
    batch_size: int
    epochs: int
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    pixels: bool = False
    lr: float = 3e-4

    @property
    def rollout(self) -> int:
        return self.n_envs * self.n_steps

    def with_kwargs(self, **kwargs: Any) -> DistributedTask:
        return replace(self, kwargs=self.kwargs | kwargs)


TASKS = {
    task.name: task
    for task in (
        DistributedTask("cartpole", "CartPole-v1", 16, 128, 256, 4),
        DistributedTask("halfcheetah", "HalfCheetah-v5", 16, 128, 256, 4),
        DistributedTask("pong", "ALE/Pong-v5", 8, 128, 256, 4, pixels=True, lr=2.5e-4),
        DistributedTask("burn", COSTLY, 16, 128, 256, 4, {"burn": BURN_SECONDS}),
        DistributedTask("sleep", COSTLY, 16, 32, 128, 2, {"sleep": SLEEP_SECONDS}),
        DistributedTask("logged", LOGGED, 16, 64, 256, 2, {"sleep": 1e-3}),
    )
}
GAMMA, GAE_LAMBDA, CLIP, ENTROPY_COEF, HIDDEN = 0.99, 0.95, 0.2, 0.01, (64, 64)
