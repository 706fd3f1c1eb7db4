"""The input of reward terms: the steps of a rollout, with the components of observations by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gymnast.config.facts import Component
from gymnast.config.sections.env import EnvConfig
from gymnast.errors import ConfigError
from gymnast.shaping.potential import potential_difference
from gymnast.spaces.observations import Observation

Array = np.ndarray


@dataclass(frozen=True)
class TermContext:
    """The environment as a term sees it before the first step."""

    env: EnvConfig
    obs: Observation
    components: tuple[Component, ...]
    """Components of the observation, as `facts.observations` declares them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names by which `ObsBatch` gives access to the components of an observation."""
        own = self.obs.dtype.names
        return tuple(own) if own else tuple(component.name for component in self.components)


@dataclass(frozen=True)
class ObsBatch:
    """A batch of observations [T, N, ...]; `obs["pole angle"]` is one component, [T, N]."""

    rows: Array
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> Array:
        """Returns the component of this name, [T, N], or [T, N, ...] for an entry of a Dict observation.
        Raises ConfigError for an unknown name, and if the declared names do not fit the observation."""
        if name not in self.names:
            known = ", ".join(self.names) or "none"
            raise ConfigError(
                f"the observation has no component {name} (facts.observations: {known})"
            )
        if self.rows.dtype.names:
            return self.rows[name]
        flat = self.rows.reshape(*self.rows.shape[:2], -1)
        if flat.shape[-1] != len(self.names):
            what = (
                f"the observation has {flat.shape[-1]} components, but {len(self.names)} are named"
            )
            raise ConfigError(what, fix="name all of them, in order, in facts.observations")
        component = flat[..., self.names.index(name)]
        # float64, like rewards: a potential difference subtracts nearly equal numbers.
        return component.astype(np.float64) if component.dtype == np.float32 else component


@dataclass(frozen=True)
class Steps:
    """T steps of N copies; arrays are [T, N, ...]. Entries where `valid` is False may hold anything."""

    obs: ObsBatch
    """Observation s_t, from which the action was chosen."""
    next_obs: ObsBatch
    """Next observation s_{t+1}, before any reset: in the last step of an episode, its final observation."""
    action: Array
    reward: Array
    """Reward of the environment."""
    terminated: Array
    truncated: Array
    ended: Array
    """True where the algorithm assumes a return of 0 from here on: on termination and, for algorithms that
    learn from complete episodes and do not bootstrap, on truncation too."""
    valid: Array
    age: Array
    """Number of steps of the episode before this one."""
    gamma: float
    """Discount factor of the algorithm."""
    info: Array | None = None
    """Structured array of the info values that `info` terms read, by key; NaN where a step lacks the key."""

    def potential(self, phi: Callable[[ObsBatch], Array]) -> Array:
        """Returns the shaping term of a potential. `phi` returns one number per observation, [T, N]."""
        return potential_difference(phi(self.obs), phi(self.next_obs), self.ended, gamma=self.gamma)


def episode_ages(start: Array, carry: Array) -> Array:
    """Returns the number of steps in the episode before each step, [T, N]. `carry`: that number for the first
    step of the rollout, [N]."""
    t = np.arange(len(start))[:, None]
    # The running maximum is the step at which the current episode started: -carry if that was before the
    # rollout, else the last step with a start flag.
    return t - np.maximum.accumulate(np.where(start, t, -carry), axis=0)


def episode_returns(start: Array, reward: Array, carry: Array) -> Array:
    """Returns the sum of rewards of the episode up to and including each step, [T, N]. `carry`: the sum
    before the first step of the rollout, [N]."""
    total = np.cumsum(reward, axis=0)
    t = np.arange(len(start))[:, None]
    first_step = np.maximum.accumulate(np.where(start, t, -1), axis=0)
    # Row k of [-carry, total] is the sum over the steps before step k. Subtracting the row at which the
    # episode started leaves the episode's own sum; for an episode from before the rollout, row 0 adds
    # `carry`.
    before = np.take_along_axis(np.concatenate([-carry[None], total]), np.maximum(first_step, 0), 0)
    # an episode that starts with the rollout's first step has no reward from before
    before = np.where(first_step == 0, 0.0, before)
    return total - before
