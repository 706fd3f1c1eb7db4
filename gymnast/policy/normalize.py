"""Normalisation of what goes in (observations, rewards) and what comes out (values).

Statistics are training state: they change between rollouts only, are saved with the policy and
stay as they are in evaluation.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from gymnast.errors import ConfigError
from gymnast.rl.returns import discounted_so_far
from gymnast.rl.running import Moments
from gymnast.spaces.spaces import BoxObs

Array = np.ndarray


class ObsNormalizer:
    """Observations with mean 0 and spread 1: of those seen (running) or of their range (static)."""

    def __init__(self, mode: Literal["off", "running", "static"], space: BoxObs, clip: float):
        self.mode, self.clip = mode, np.float32(clip)
        self.moments = Moments.of_nothing(space.size)
        if mode == "static":
            self.moments = _moments_of_range(space)
        self._refresh()

    def __call__(self, obs: Array) -> Array:
        if self.mode == "off":
            return obs
        x = obs - self._mean
        x *= self._scale
        return np.clip(x, -self.clip, self.clip, out=x)

    def update(self, obs: Array) -> None:
        if self.mode == "running":
            self.moments = self.moments.seen(obs.reshape(len(obs), -1))
            self._refresh()

    def load(self, moments: Moments) -> None:
        self.moments = moments
        self._refresh()

    def _refresh(self) -> None:
        self._mean = self.moments.mean.astype(np.float32)
        self._scale = (1.0 / self.moments.std).astype(np.float32)


class RewardScale:
    """Divides rewards by the spread of the discounted return so far, never shifting them; or leaves
    their signs alone (-1, 0, 1)."""

    def __init__(self, mode: Literal["off", "running", "sign"], n_envs: int) -> None:
        self.mode = mode
        self.moments = Moments.of_nothing(1)
        self.carry = np.zeros(n_envs)
        """Discounted return so far of each running episode."""

    def __call__(self, reward: Array, done: Array, valid: Array, *, gamma: float) -> Array:
        """Learn from rewards [T, N], where valid, then scale them."""
        if self.mode == "running":
            total = self.observe(reward, done, gamma=gamma)
            self.moments = self.moments.seen(total[valid].reshape(-1, 1))
        return self.scaled(reward)

    def scaled(self, reward: Array) -> Array:
        """Rewards as they are learned from, by the statistics as they stand."""
        if self.mode == "off":
            return reward
        return np.sign(reward) if self.mode == "sign" else reward / self.scale

    def observe(self, reward: Array, done: Array, *, gamma: float) -> Array:
        """The discounted return so far at every step [T, N], by which nothing is learned yet."""
        total = discounted_so_far(reward, done, self.carry, gamma=gamma)
        self.carry = np.where(done[-1], 0.0, total[-1])
        return total

    @property
    def scale(self) -> float:
        return float(self.moments.std[0])


class ValueScale:
    """PopArt (arXiv:1602.07714): the critic learns targets of mean 0 and spread 1, and its last
    layer is rewritten whenever these move, so that what it says in real units stays the same."""

    def __init__(self, mode: Literal["off", "popart"]) -> None:
        self.mode = mode
        self.moments = Moments.of_nothing(1)

    @property
    def mean(self) -> float:
        return float(self.moments.mean[0])

    @property
    def std(self) -> float:
        return float(self.moments.std[0])

    def update(self, target: Array, weight: Array, bias: Array) -> None:
        """Take in targets [B]; weight and bias of the critic's last layer are changed in place."""
        if self.mode == "off":
            return
        mean, std = self.mean, self.std
        self.moments = self.moments.seen(target.reshape(-1, 1))
        weight *= std / self.std
        bias[:] = (std * bias + mean - self.mean) / self.std

    def normalized(self, value: Array) -> Array:
        return value if self.mode == "off" else (value - self.mean) / self.std

    def denormalized(self, output: Array) -> Array:
        return (
            output if self.mode == "off" else output * np.float32(self.std) + np.float32(self.mean)
        )


def _moments_of_range(space: BoxObs) -> Moments:
    low, high = np.array(space.low), np.array(space.high)
    unbounded = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high) & (high > low)))
    if len(unbounded):
        raise ConfigError(
            "normalize.obs: static needs a declared range for every component; "
            f"missing for {unbounded.tolist()}",
            fix="declare low and high under facts.observations, or set normalize.obs=running",
        )
    return Moments(1.0, (low + high) / 2, ((high - low) / 2) ** 2)
