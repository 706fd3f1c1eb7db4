"""Networks and environments of our two scripts, CleanRL-style and LeanRL-style."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn
from torch.distributions import Categorical, Normal

from benchmarks.tasks import HIDDEN, Task


def make_envs(task: Task) -> Any:
    """Returns ALE's own vector environment for Atari, else copies in this process."""
    if task.pixels:
        from ale_py.vector_env import AtariVectorEnv

        return AtariVectorEnv(
            task.env.lower(),
            task.n_envs,
            autoreset_mode=AutoresetMode.SAME_STEP,
            repeat_action_probability=0.0,
        )

    def make() -> gym.Env[Any, Any]:
        env = gym.wrappers.RecordEpisodeStatistics(gym.make(task.env, disable_env_checker=True))
        continuous = isinstance(env.action_space, gym.spaces.Box)
        return gym.wrappers.ClipAction(env) if continuous else env

    return gym.vector.SyncVectorEnv([make] * task.n_envs, autoreset_mode=AutoresetMode.SAME_STEP)


def finished_returns(info: dict[str, Any]) -> list[float]:
    """Returns the returns of the episodes that ended in this step."""
    episode = info.get("final_info", {}).get("episode")
    return [] if episode is None else episode["r"][episode["_r"]].tolist()


def init_layer(module: nn.Module, gain: float = 2**0.5) -> nn.Module:
    nn.init.orthogonal_(module.weight, gain)  # pyright: ignore
    nn.init.zeros_(module.bias)  # pyright: ignore
    return module


class Agent(nn.Module):
    def __init__(self, task: Task, envs: Any) -> None:
        super().__init__()
        space = envs.single_action_space
        self.continuous = isinstance(space, gym.spaces.Box)
        n_out = int(np.prod(space.shape)) if self.continuous else int(space.n)
        self.pixels = task.pixels
        if task.pixels:
            self.shared, width = _nature_cnn(), 512
            self.actor, self.critic = (
                init_layer(nn.Linear(width, n_out), 0.01),
                init_layer(nn.Linear(width, 1), 1.0),
            )
        else:
            n_in = int(np.prod(envs.single_observation_space.shape))
            self.shared = nn.Identity()
            self.actor, self.critic = _mlp(n_in, n_out, 0.01), _mlp(n_in, 1, 1.0)
        if self.continuous:
            self.log_std = nn.Parameter(torch.zeros(1, n_out))

    def value(self, obs: Tensor) -> Tensor:
        return self.critic(self._features(obs)).flatten()

    def forward(
        self, obs: Tensor, action: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Returns the action (sampled unless given), its log-probability, the entropy and the value."""
        features = self._features(obs)
        out = self.actor(features)
        # Without argument validation, which costs time and which a fast script would switch off.
        if self.continuous:
            dist = Normal(out, self.log_std.expand_as(out).exp(), validate_args=False)
        else:
            dist = Categorical(logits=out, validate_args=False)
        action = dist.sample() if action is None else action
        log_prob, entropy = dist.log_prob(action), dist.entropy()
        if self.continuous:  # independent dimensions: the joint log-probability is the sum
            log_prob, entropy = log_prob.sum(1), entropy.sum(1)
        return action, log_prob, entropy, self.critic(features).flatten()

    def _features(self, obs: Tensor) -> Tensor:
        return self.shared(obs.float() / 255.0 if self.pixels else obs)


def _mlp(n_in: int, n_out: int, gain: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in HIDDEN:
        layers += [init_layer(nn.Linear(n_in, width)), nn.Tanh()]
        n_in = width
    return nn.Sequential(*layers, init_layer(nn.Linear(n_in, n_out), gain))


def _nature_cnn() -> nn.Sequential:
    return nn.Sequential(
        init_layer(nn.Conv2d(4, 32, 8, 4)),
        nn.ReLU(),
        init_layer(nn.Conv2d(32, 64, 4, 2)),
        nn.ReLU(),
        init_layer(nn.Conv2d(64, 64, 3, 1)),
        nn.ReLU(),
        nn.Flatten(),
        init_layer(nn.Linear(64 * 7 * 7, 512)),
        nn.ReLU(),
    )
