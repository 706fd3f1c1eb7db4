"""Normalization of observations, rewards and values.

The statistics are training state: they change only between rollouts, are saved with the policy, and
are frozen during evaluation.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from gymnast.errors import ConfigError
from gymnast.rl.returns import consecutive_columns, running_discounted_return
from gymnast.rl.running import Moments
from gymnast.spaces.spaces import BoxObs

Array = np.ndarray


class ObsNormalizer:
    """Scales observations to mean 0 and standard deviation 1, and clips them.

    The statistics are those of all observations so far (running) or of the declared range (static).
    """

    def __init__(self, mode: Literal["off", "running", "static"], space: BoxObs, clip: float):
        self.mode, self.clip = mode, np.float32(clip)
        self.moments = Moments.empty(space.size)
        if mode == "static":
            self.moments = _moments_of_range(space)
        self._refresh()

    def __call__(self, obs: Array) -> Array:
        """Returns observations [B, n] normalized and clipped, as a new array; unchanged if the mode is
        off."""
        if self.mode == "off":
            return obs
        x = obs - self._mean  # a new array: the rollout keeps the raw observations
        x *= self._scale
        return np.clip(x, -self.clip, self.clip, out=x)

    def update(self, obs: Array) -> None:
        """Updates running statistics with observations [B, ...]; does nothing in the other modes."""
        if self.mode == "running":
            self.moments = self.moments.updated(obs.reshape(len(obs), -1))
            self._refresh()

    def load(self, moments: Moments) -> None:
        self.moments = moments
        self._refresh()

    def _refresh(self) -> None:
        """Converts the statistics to float32 factors once per change instead of once per call."""
        self._mean = self.moments.mean.astype(np.float32)
        self._scale = (1.0 / self.moments.std).astype(np.float32)


class RewardScale:
    """Divides rewards by the standard deviation of the discounted return (running), or takes their sign.

    Rewards are never shifted: a constant would change which policy is optimal if episodes can end.
    """

    def __init__(self, mode: Literal["off", "running", "sign"], n_envs: int) -> None:
        self.mode = mode
        self.moments = Moments.empty(1)
        self.running_return = np.zeros(n_envs)
        """Discounted sum of the rewards so far in the unfinished episode of each environment, [N]."""

    def __call__(
        self, reward: Array, done: Array, valid: Array, *, gamma: float, copies: Array | None = None
    ) -> Array:
        """Updates the statistics with the valid rewards [T, N] and returns all rewards scaled. `done`: where
        episodes ended, [T, N]; `copies`: the env copy of each column, see `Rollout.copies`."""
        if self.mode == "running":
            total = np.empty(reward.shape)
            for part in consecutive_columns(copies):
                own = part if copies is None else copies[part]
                total[:, part] = self.accumulate_returns(
                    reward[:, part], done[:, part], gamma=gamma, copies=own
                )
            # Updated before scaling, so that already the first rollout has rewards of a sensible size.
            self.moments = self.moments.updated(total[valid].reshape(-1, 1))
        return self.scaled(reward)

    def scaled(self, reward: Array) -> Array:
        """Returns the rewards scaled by the current statistics."""
        if self.mode == "off":
            return reward
        return np.sign(reward) if self.mode == "sign" else reward / self.scale

    def raw_per_unit(self, factor: float) -> float | None:
        """Returns the factor from scaled to raw rewards, which were multiplied by `factor` before; None if
        only their sign is left."""
        if self.mode == "sign":
            return None
        # scaled = raw * factor / scale
        return (self.scale if self.mode == "running" else 1.0) / factor

    def accumulate_returns(
        self, reward: Array, done: Array, *, gamma: float, copies: Array | slice = slice(None)
    ) -> Array:
        """Returns the discounted sum of rewards up to each step, [T, N], and carries it to the next call.
        `copies`: the environments of the columns, each at most once.

        The statistics are not updated.
        """
        total = running_discounted_return(reward, done, self.running_return[copies], gamma=gamma)
        self.running_return = (
            self.running_return.copy()
        )  # a checkpoint may still refer to the old one
        self.running_return[copies] = np.where(done[-1], 0.0, total[-1])
        return total

    @property
    def scale(self) -> float:
        """Standard deviation of the discounted return so far."""
        return float(self.moments.std[0])


class ValueScale:
    """PopArt (arXiv:1602.07714): the critic is trained on targets with mean 0 and standard deviation 1.

    When these statistics change, the critic's last layer is rescaled, so that its predictions in
    reward units stay the same.
    """

    def __init__(self, mode: Literal["off", "popart"]) -> None:
        self.mode = mode
        self.moments = Moments.empty(1)

    @property
    def mean(self) -> float:
        return float(self.moments.mean[0])

    @property
    def std(self) -> float:
        return float(self.moments.std[0])

    def update(self, target: Array, weight: Array, bias: Array) -> None:
        """Updates the statistics with targets [B] in reward units, and `weight` and `bias` of the critic's
        last layer in place."""
        if self.mode == "off":
            return
        mean, std = self.mean, self.std
        self.moments = self.moments.updated(target.reshape(-1, 1))
        # From std' (w' x + b') + mean' = std (w x + b) + mean for every x, primes for the new statistics.
        weight *= std / self.std
        bias[:] = (std * bias + mean - self.mean) / self.std

    def normalized(self, value: Array) -> Array:
        """Returns values in reward units as the critic is trained on them."""
        return value if self.mode == "off" else (value - self.mean) / self.std

    def denormalized(self, output: Array) -> Array:
        """Returns outputs of the critic in reward units."""
        # np.float32, so that values stay float32
        return (
            output if self.mode == "off" else output * np.float32(self.std) + np.float32(self.mean)
        )


def _moments_of_range(space: BoxObs) -> Moments:
    """Returns moments that scale the declared range of every component to -1..1. Raises ConfigError for a
    component without a finite range."""
    low, high = np.array(space.low), np.array(space.high)
    unbounded = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high) & (high > low)))
    if len(unbounded):
        raise ConfigError(
            "normalize.obs: static needs a declared range for every component; "
            f"missing for {unbounded.tolist()}",
            fix="declare low and high under facts.observations, or set normalize.obs=running",
        )
    return Moments(1.0, (low + high) / 2, ((high - low) / 2) ** 2)
