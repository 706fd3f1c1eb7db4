"""What is timed: the same algorithm, hyperparameters and networks for every library.

Letters are those of the table of speeds to beat; two separate tanh MLPs of HIDDEN each.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    """Budget of one sample: 10 to 20 s of CPU on the slower library."""
    checkpoint_every: int
    """Env steps between checkpoints in a training of full length (a tenth of it); a sample is
    shorter, and must not save more often for that."""
    lr: float = 3e-4
    decays: bool = False
    """Do learning rate and clip range fall to 0 in a straight line?"""
    clip: float = 0.2
    gamma: float = 0.99
    gae_lambda: float = 0.95
    entropy_coef: float = 0.0

    @property
    def rollout(self) -> int:
        return self.n_envs * self.n_steps

    def scaled(self, factor: float) -> int:
        """A share of the budget, in whole rollouts."""
        return max(1, round(self.env_steps * factor / self.rollout)) * self.rollout


TASKS = {
    task.letter: task
    for task in (
        Task("a", "CartPole-v1", 8, 32, 256, 20, env_steps=160 * 256, checkpoint_every=10_000,
             lr=1e-3, decays=True, gamma=0.98, gae_lambda=0.8),
        Task("b", "CartPole-v1", 8, 128, 256, 4, env_steps=80 * 1024, checkpoint_every=10_000,
             lr=2.5e-4, entropy_coef=0.01),
        Task("c", "LunarLander-v3", 16, 1024, 64, 4, env_steps=3 * 16384, checkpoint_every=100_000,
             gamma=0.999, gae_lambda=0.98, entropy_coef=0.01),
        Task("e", "HalfCheetah-v5", 1, 2048, 64, 10, env_steps=6 * 2048, checkpoint_every=100_000),
    )
}  # fmt: skip
