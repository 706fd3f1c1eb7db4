"""Players that choose actions: a stored policy or random actions. Human players are in `human.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from gymnast.policy.policy import Policy
from gymnast.seeds import stream
from gymnast.spaces import spaces
from gymnast.spaces.spaces import as_masks, as_rows


@dataclass(frozen=True, eq=False)
class Decision:
    action: object
    """Action as passed to `env.step`."""
    value: float | None = None
    action_probs: np.ndarray | None = None
    """Probability of each option, in the order of an action mask."""


class Player(Protocol):
    def start_episode(self, seed: int) -> None:
        """Starts an episode; its random numbers depend only on the seed."""
        ...

    def decide(self, obs: object, mask: object = None) -> Decision:
        """Returns the next action; `mask` is `info["action_mask"]` if the environment has one."""
        ...


class RandomPlayer:
    """Uniform random actions."""

    def __init__(self, space: gym.Space[Any]) -> None:
        self.space = space

    def start_episode(self, seed: int) -> None:
        self.space.seed(seed)

    def decide(self, obs: object, mask: object = None) -> Decision:
        return Decision(self.space.sample() if mask is None else self._sample_allowed(mask))

    def _sample_allowed(self, mask: object) -> object:
        space = spaces.convert_action_space(self.space)
        rng = self.space.np_random
        return space.unpack(space.random((1,), rng, as_masks(space, [mask]))[0])


class TrainedPlayer:
    """Plays a stored policy: its most likely action, or a sampled one as in training."""

    def __init__(self, policy: Policy, *, sampled: bool) -> None:
        self.policy, self.sampled = policy, sampled
        self._rng: np.random.Generator | None = None
        self._state = policy.initial_state(1)

    def start_episode(self, seed: int) -> None:
        self._rng = stream(seed, "play") if self.sampled else None
        self._state = self.policy.initial_state(1)

    def decide(self, obs: object, mask: object = None) -> Decision:
        """Returns the action of the policy, the value estimate and, for discrete actions, the
        probabilities of all actions."""
        policy, head = self.policy, self.policy.head
        rows = as_rows(policy.obs_space, [obs])
        # The policy takes batches: one row here. Without noise it returns the most likely action.
        noise = None if self._rng is None else head.noise(self._rng, (1,))
        allowed = None if mask is None else as_masks(policy.action_space, [mask])
        dist, value, self._state = policy.step(rows, self._state, allowed)
        raw_action = head.mode(dist) if noise is None else head.sample(dist, noise)
        # clipped or squashed to the action space
        action = policy.action_space.unpack(head.for_env(raw_action)[0])
        probabilities = head.option_probabilities(dist[0]) if policy.action_space.options else None
        return Decision(action, float(value[0]), probabilities)
