"""The tasks that are timed: the same algorithm, hyperparameters and networks for every library.

Tasks have letters. Vector observations: two separate tanh MLPs with the layer widths HIDDEN.
Pixels: the CNN of the Nature DQN paper (32 8x8/4, 64 4x4/2, 64 3x3/1, 512 dense, ReLU), shared by
policy and value; a step is four frames, without sticky actions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

HIDDEN = (64, 64)
SEED = 1


@dataclass(frozen=True)
class Task:
    letter: str
    env: str
    n_envs: int
    n_steps: int
    batch_size: int
    epochs: int
    env_steps: int
    """Budget of one sample of a peer: about 5 s of CPU, 30 s for pixels."""
    budget_factor: int
    """Factor of our budget relative to that of a peer, so that both are timed for about as long."""
    checkpoint_every: int
    """Env steps between checkpoints in a full-length training (a tenth of it), so that a sample, which is
    shorter, does not save more often."""
    lr: float = 3e-4
    anneal: bool = False
    """Whether learning rate and clip range are annealed linearly to 0."""
    clip: float = 0.2
    gamma: float = 0.99
    gae_lambda: float = 0.95
    entropy_coef: float = 0.0
    backend: Literal["auto", "vector"] = "auto"
    """Backend of gymnast: copies in this process, or the environment's own vector implementation."""
    pixels: bool = False
    memory: int = 0
    """Units of an LSTM before the hidden layers, of policy and value each; 0 for none."""
    hide: tuple[int, ...] = ()
    """Components that are removed from the observation."""

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        if self.pixels:
            return ()
        return HIDDEN[:1] if self.memory else HIDDEN

    @property
    def rollout(self) -> int:
        return self.n_envs * self.n_steps

    @property
    def updates_per_rollout(self) -> int:
        """Optimizer steps."""
        return self.epochs * -(-self.rollout // self.batch_size)

    @property
    def warm_up(self) -> Task:
        """The task shortened to one update on one batch, run before timing starts, so that one-time costs
        of torch and others are not timed."""
        n_steps = -(-self.batch_size // self.n_envs)
        return replace(self, n_steps=n_steps, epochs=1, env_steps=n_steps * self.n_envs)

    @property
    def preset(self) -> str:
        """Preset from which gymnast takes the environment; the task defines all other settings."""
        return "ALE/Pong-v5:pixels-deterministic" if self.pixels else f"{self.env}:ppo"

    @property
    def network(self) -> str:
        if self.pixels:
            return "one NatureCNN, ReLU"
        lstm = f"LSTM {self.memory} and " if self.memory else ""
        return f"2 {lstm}MLPs {' x '.join(map(str, self.hidden))}, tanh"

    def scaled_budget(self, factor: float) -> int:
        """Returns a fraction of the budget, in whole rollouts."""
        return max(1, round(self.env_steps * factor / self.rollout)) * self.rollout


TASKS = {
    task.letter: task
    for task in (
        Task("a", "CartPole-v1", 8, 32, 256, 20, env_steps=48 * 256, budget_factor=8,
             checkpoint_every=10_000, lr=1e-3, anneal=True, gamma=0.98, gae_lambda=0.8),
        Task("b", "CartPole-v1", 8, 128, 256, 4, env_steps=24 * 1024, budget_factor=12,
             checkpoint_every=10_000, lr=2.5e-4, entropy_coef=0.01),
        Task("c", "LunarLander-v3", 16, 1024, 64, 4, env_steps=16384, budget_factor=6,
             checkpoint_every=100_000, gamma=0.999, gae_lambda=0.98, entropy_coef=0.01),
        Task("d", "Pong", 8, 128, 256, 4, env_steps=10 * 1024, budget_factor=1,
             checkpoint_every=1_000_000, lr=2.5e-4, clip=0.1, entropy_coef=0.01,
             backend="vector", pixels=True),
        Task("e", "HalfCheetah-v5", 1, 2048, 64, 10, env_steps=2 * 2048, budget_factor=5,
             checkpoint_every=100_000),
        Task("f", "CartPole-v1", 1024, 64, 8192, 1, env_steps=8 * 65536, budget_factor=2,
             checkpoint_every=1_000_000, backend="vector"),
    )
}  # fmt: skip
RECURRENT = {
    task.letter: task
    for task in (
        Task("r", "CartPole-v1", 8, 32, 256, 20, env_steps=12 * 256, budget_factor=16,
             checkpoint_every=10_000, lr=1e-3, anneal=True, gamma=0.98, gae_lambda=0.8,
             memory=64, hide=(1, 3)),
        Task("s", "CartPole-v1", 8, 128, 256, 10, env_steps=4 * 1024, budget_factor=16,
             checkpoint_every=10_000, lr=1e-3, anneal=True, gamma=0.98, gae_lambda=0.8,
             memory=64, hide=(1, 3)),
    )
}  # fmt: skip
"""Tasks of `benchmarks.recurrent`, CartPole without its velocities: r with the settings of RL Baselines3
Zoo for RecurrentPPO, s with longer rollouts."""


def task_of(letter: str) -> Task:
    return (TASKS | RECURRENT)[letter]
