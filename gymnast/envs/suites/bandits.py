"""Bernoulli bandits: each arm pays 1 with its own probability, else 0. They cannot be rendered.

`Bandit-v0`             the same arms in every episode; the argument `seed` decides their probabilities
`Bandit-contextual-v0`  several contexts, each with its own arms; the context is observed before a pull
`Bandit-drifting-v0`    new arms in every episode, drawn from its seed, whose probabilities drift: the
                        agent has to find the best arm, and find it again, within the episode

The `info` of every step has the `regret` so far (the expected reward that the best arm of each pull would
have added) and `optimal_arm_share`, the share of pulls of the best arm.
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from gymnast.envs.env_types import Info, Options

LOW, HIGH = 0.1, 0.9
"""Probabilities of the worst and the best arm; the others are evenly spaced between them."""
DECAY = 0.95
"""Decay per pull of the statistics that a drifting bandit shows."""


class _Score:
    """Regret and optimal-arm share of an episode, computed from the probabilities, not the outcomes."""

    def __init__(self) -> None:
        self.pulls, self.regret, self.optimal = 0, 0.0, 0

    def add(self, chance: np.ndarray, arm: int) -> Info:
        """Counts a pull of this arm and returns the `regret` and the `optimal_arm_share` so far, as a new
        dict. `chance`: probability of each arm."""
        best = float(chance.max())
        self.pulls += 1
        self.regret += best - float(chance[arm])
        self.optimal += bool(chance[arm] == best)
        return {"regret": self.regret, "optimal_arm_share": self.optimal / self.pulls}


class Bandit(gym.Env[np.int64, np.int64]):
    """A bandit with fixed arms. The observation is the context; with a single context it is constant."""

    def __init__(self, arms: int = 10, pulls: int = 100, contexts: int = 1, seed: int = 0) -> None:
        draw = np.random.default_rng(seed)
        probabilities = np.linspace(LOW, HIGH, arms)
        self.chance = np.stack([draw.permutation(probabilities) for _ in range(contexts)])
        """[contexts, arms]"""
        self.pulls = pulls
        self.observation_space = gym.spaces.Discrete(contexts)
        self.action_space = gym.spaces.Discrete(arms)

    def reset(self, *, seed: int | None = None, options: Options = None) -> tuple[np.int64, Info]:
        super().reset(seed=seed)
        self._score = _Score()
        return self._next_context(), {}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, Info]:
        """Pulls an arm of the current context; returns the next context, the reward (0 or 1), terminated,
        truncated (always False), and as info the `regret` and `optimal_arm_share` so far."""
        chance = self.chance[self._context]
        info = self._score.add(chance, int(action))
        reward = float(self.np_random.random() < chance[action])
        # Terminated, not truncated: after the last pull there is no future reward to bootstrap.
        ended = self._score.pulls == self.pulls
        return self._next_context(), reward, ended, False, info

    def _next_context(self) -> np.int64:
        self._context = np.int64(self.np_random.integers(len(self.chance)))
        return self._context


class DriftingBandit(gym.Env[np.ndarray, np.int64]):
    """A bandit whose probabilities change during the episode.

    The observation [2 * arms] holds statistics of the episode in which older pulls weigh less: for each
    arm the share of pulls that paid, then for each arm how often it was pulled (1: always).
    """

    def __init__(self, arms: int = 5, pulls: int = 200, drift: float = 0.03) -> None:
        self.arms, self.pulls, self.drift = arms, pulls, drift
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2 * arms,), np.float32)
        self.action_space = gym.spaces.Discrete(arms)

    def reset(self, *, seed: int | None = None, options: Options = None) -> tuple[np.ndarray, Info]:
        """Draws new arms and returns the statistics before the first pull."""
        super().reset(seed=seed)
        self._score = _Score()
        self.chance = self.np_random.random(self.arms)
        self._pulled, self._paid = np.zeros(self.arms), np.zeros(self.arms)
        return self._statistics(), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, Info]:
        """Pulls an arm and lets all arms drift; returns the statistics, the reward (0 or 1), terminated,
        truncated (always False), and as info the `regret` and `optimal_arm_share` so far."""
        info = self._score.add(self.chance, int(action))
        reward = float(self.np_random.random() < self.chance[action])
        self._pulled *= DECAY
        self._paid *= DECAY
        self._pulled[action] += 1.0
        self._paid[action] += reward
        drifted = np.abs(self.chance + self.drift * self.np_random.standard_normal(self.arms))
        self.chance = 1.0 - np.abs(1.0 - drifted)  # reflected at 0 and 1
        ended = self._score.pulls == self.pulls
        return self._statistics(), reward, ended, False, info

    def _statistics(self) -> np.ndarray:
        """Returns the observation, [2 * arms]: the share of pulls of each arm that paid, and how often it was
        pulled lately, both decayed."""
        share = (self._paid + 0.5) / (self._pulled + 1.0)  # 0.5 for an arm that was never pulled
        # The decayed count of an arm that is always pulled converges to 1 / (1 - DECAY).
        return np.concatenate([share, self._pulled * (1.0 - DECAY)]).astype(np.float32)


gym.register(id="Bandit-v0", entry_point=f"{__name__}:Bandit")
gym.register(
    id="Bandit-contextual-v0", entry_point=f"{__name__}:Bandit", kwargs={"contexts": 10, "arms": 5}
)
gym.register(id="Bandit-drifting-v0", entry_point=f"{__name__}:DriftingBandit")
