"""A game in which a person plays an environment with a single agent."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gymnast.config.config import Config
from gymnast.film.renderer import EnvRenderer
from gymnast.inspector.env_overrides import require_spaces_of
from gymnast.play.keys import KeyBindings
from gymnast.play.recording import EpisodeRecording
from gymnast.policy.policy import Policy
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.trace import Trace
from gymnast.spaces.spaces import convert_obs_space

Array = np.ndarray


class Game(Protocol):
    """The interface of a game that a person plays."""

    keys: KeyBindings
    fps: float
    total: float
    """Sum of the person's rewards so far."""
    terminated: bool
    truncated: bool
    role: str
    """The role of the person; empty for a single agent."""
    cast: dict[str, str]
    """Role -> the player that has it; empty for a single agent."""

    @property
    def steps(self) -> int:
        """Number of steps taken so far."""
        ...

    @property
    def over(self) -> bool: ...

    @property
    def outcome(self) -> str:
        """How the game ended; empty before."""
        ...

    def step(self, action: Array) -> float:
        """Takes a step with the person's action, a row; returns the person's reward."""
        ...

    def render(self) -> Array: ...

    def trace(self) -> Trace | MatchTrace:
        """Returns the steps so far. There must be at least one."""
        ...

    def close(self) -> None: ...


class EpisodeGame:
    """An episode that a person plays."""

    role = ""

    def __init__(self, config: Config, policy: Policy | None, version: int, seed: int) -> None:
        """`policy`: its decisions are recorded, too; `version`: its env steps. Raises EnvError if the
        environment cannot be rendered, UsageError without keys."""
        self.seed = seed
        self.cast: dict[str, str] = {}
        self.total, self.terminated, self.truncated = 0.0, False, False
        self.renderer = EnvRenderer(config)
        try:
            self.fps = self.renderer.fps
            self.keys = KeyBindings(self.renderer.action_space, config.facts)
            if policy is not None:
                obs_space = convert_obs_space(self.renderer.env.observation_space)
                require_spaces_of(policy, obs_space, self.renderer.action_space, config.env.id)
            self._recording = EpisodeRecording(config, self.renderer, policy, version)
            obs, self.renderer.info = self.renderer.env.reset(seed=seed)
            self._recording.see(obs)
        except BaseException:
            self.renderer.close()
            raise

    @property
    def steps(self) -> int:
        return len(self._recording)

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    @property
    def outcome(self) -> str:
        return "terminated" if self.terminated else "truncated" if self.truncated else ""

    def step(self, action: Array) -> float:
        """Takes a step; returns its reward."""
        env_action = self.renderer.to_env_action(action)
        obs, reward, self.terminated, self.truncated = self.renderer.step(env_action)
        self._recording.add(action, reward, obs)
        self.total += reward
        return reward

    def render(self) -> Array:
        return self.renderer.render()

    def trace(self) -> Trace:
        return self._recording.trace(
            self.seed, terminated=self.terminated, truncated=self.truncated
        )

    def close(self) -> None:
        self.renderer.close()
