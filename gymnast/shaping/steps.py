"""What a term is computed from: the steps of a rollout, with observations by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gymnast.config.facts import Component
from gymnast.config.sections.env import EnvConfig
from gymnast.errors import ConfigError
from gymnast.shaping.potential import difference
from gymnast.spaces.observations import Observation

Array = np.ndarray


@dataclass(frozen=True)
class Scene:
    """What a term may know before the first step."""

    env: EnvConfig
    obs: Observation
    components: tuple[Component, ...]
    """The parts of an observation, as `facts.observations` declares them."""

    @property
    def names(self) -> tuple[str, ...]:
        own = self.obs.dtype.names
        return tuple(own) if own else tuple(part.name for part in self.components)


@dataclass(frozen=True)
class Seen:
    """Observations [T, N, ...]; `seen["pole angle"]` is one component of them, [T, N]."""

    rows: Array
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> Array:
        if name not in self.names:
            known = ", ".join(self.names) or "none"
            raise ConfigError(f"no observation is called {name} (facts.observations: {known})")
        if self.rows.dtype.names:
            return self.rows[name]
        flat = self.rows.reshape(*self.rows.shape[:2], -1)
        if flat.shape[-1] != len(self.names):
            what = f"an observation has {flat.shape[-1]} parts, and {len(self.names)} have a name"
            raise ConfigError(what, fix="name each of them, in order, in facts.observations")
        part = flat[..., self.names.index(name)]
        return part.astype(np.float64) if part.dtype == np.float32 else part


@dataclass(frozen=True)
class Steps:
    """T steps of N copies; arrays are [T, N, ...]. Where `valid` is false anything may stand."""

    before: Seen
    """What each action was chosen by."""
    after: Seen
    """What it led to; after a true end, another episode's first."""
    action: Array
    reward: Array
    """As the environment gave it."""
    terminated: Array
    truncated: Array
    ended: Array
    """Nothing follows, in the eyes of the algorithm: terminated, or for those that learn from whole
    episodes truncated too."""
    valid: Array
    age: Array
    """Steps that the episode had before this one."""
    gamma: float
    """The algorithm's discount."""
    info: Array | None = None
    """Numbers of each step's info by the keys that `info` terms name; NaN where a step lacks one."""

    def potential(self, phi: Callable[[Seen], Array]) -> Array:
        """The term of a potential: phi gives one number per observation, [T, N]."""
        return difference(phi(self.before), phi(self.after), self.ended, gamma=self.gamma)


def ages(start: Array, carry: Array) -> Array:
    """Steps taken in the episode before each step [T, N], where `carry` [N] were before the first."""
    t = np.arange(len(start))[:, None]
    return t - np.maximum.accumulate(np.where(start, t, -carry), axis=0)


def sums(start: Array, reward: Array, carry: Array) -> Array:
    """Reward of the episode up to and with each step [T, N], where `carry` [N] came before the first."""
    total = np.cumsum(reward, axis=0)
    t = np.arange(len(start))[:, None]
    begun = np.maximum.accumulate(np.where(start, t, -1), axis=0)
    before = np.take_along_axis(np.concatenate([-carry[None], total]), np.maximum(begun, 0), 0)
    before = np.where(begun == 0, 0.0, before)  # began with the first step of all
    return total - before
