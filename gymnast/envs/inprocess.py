"""Copies of an environment stepped one after the other in this process.

The contract every backend keeps:
- we own resets: nothing resets by itself, each episode begins with a seed of its own;
- `step` yields the true successor observation, with terminated and truncated apart;
- the policy never sees NaN, a wrong shape or an index outside its space: the environment is stopped
  with an error that names the copy, the step and the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import gymnasium as gym
import numpy as np

from gymnast.errors import EnvError
from gymnast.policy import spaces
from gymnast.policy.spaces import Category, Choice
from gymnast.seeds import stream

Array = np.ndarray


@dataclass(frozen=True)
class Step:
    """One step of every copy, [N, ...]. The arrays are the backend's own: copy what you keep."""

    obs: Array
    """Where the action led, before any reset."""
    reward: Array
    terminated: Array
    truncated: Array
    infos: list[dict[str, Any]]


class InProcess:
    restore: Literal["state", "replay", "none"] = "replay"

    def __init__(self, make: Callable[[], gym.Env[Any, Any]], n_envs: int, name: str) -> None:
        self.name, self.n_envs = name, n_envs
        self.envs = [make() for _ in range(n_envs)]
        self.obs_space = spaces.observation(self.envs[0].observation_space)
        self.action_space = spaces.action(self.envs[0].action_space)
        nothing_yet = self.obs_space.first if isinstance(self.obs_space, Category) else 0
        shape = (n_envs, *self.obs_space.shape)
        self.obs = np.full(shape, nothing_yet, self.obs_space.dtype)
        """What each copy shows now; rewritten by reset and step."""
        self._reward = np.zeros(n_envs)
        self._terminated = np.zeros(n_envs, dtype=bool)
        self._truncated = np.zeros(n_envs, dtype=bool)
        self._infos: list[dict[str, Any]] = [{} for _ in range(n_envs)]
        self._age = [0] * n_envs
        self._every = range(n_envs)

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> None:
        for i, seed in zip(copies, seeds, strict=True):
            self._age[i] = 0
            try:
                obs, self._infos[i] = self.envs[i].reset(seed=seed)
            except Exception as cause:
                self._broken(i, f"reset(seed={seed}) raised {_named(cause)}", cause)
            self._show(i, obs)
        self._check_finite()

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        """Step all copies, or only those named; the rest stay as they are."""
        actions = action.tolist() if isinstance(self.action_space, Choice) else action
        for i in self._every if copies is None else copies:
            self._age[i] += 1
            try:
                obs, reward, terminated, truncated, self._infos[i] = self.envs[i].step(actions[i])
            except Exception as cause:
                self._broken(i, f"step({actions[i]}) raised {_named(cause)}", cause)
            self._show(i, obs)
            try:
                self._reward[i] = reward
            except (TypeError, ValueError):
                self._broken(i, f"the reward is {reward!r}, not a number")
            self._terminated[i], self._truncated[i] = terminated, truncated
        self._check_finite()
        return Step(self.obs, self._reward, self._terminated, self._truncated, self._infos)

    def close(self) -> None:
        for env in self.envs:
            env.close()

    def _show(self, i: int, obs: Any) -> None:
        space = self.obs_space
        if isinstance(space, Category):
            if not (_is_index(obs) and space.first <= obs < space.first + space.n):
                self._broken(i, f"the observation is {obs!r}, not one of {space.n} categories")
        elif not isinstance(obs, np.ndarray):
            self._broken(i, f"the observation is a {type(obs).__name__}, not an array")
        elif obs.shape != space.shape:
            self._broken(i, f"the observation has shape {obs.shape}, its space says {space.shape}")
        try:
            self.obs[i] = obs
        except (TypeError, ValueError):
            self._broken(i, f"the observation is of {obs.dtype}, not numbers")

    def _check_finite(self) -> None:
        # a sum is finite unless a term is not (or it overflows, which the second look sorts out)
        if math.isfinite(self._reward.sum()) and math.isfinite(self.obs.sum(dtype=np.float64)):
            return
        for i in range(self.n_envs):
            if not math.isfinite(self._reward[i]):
                self._broken(i, f"the reward is {self._reward[i]}")
            if not np.isfinite(self.obs[i]).all():
                where = np.argwhere(~np.isfinite(np.atleast_1d(self.obs[i])))[0].tolist()
                self._broken(i, f"the observation is not finite at index {where}")

    def _broken(self, copy: int, what: str, cause: BaseException | None = None) -> NoReturn:
        raise EnvError(
            f"{self.name}, copy {copy}, step {self._age[copy]} of its episode: {what}",
            fix="mend the environment; a run that was under way can be resumed",
        ) from cause


def replays_exactly(envs: InProcess, declared: str) -> bool:
    """Does the same seed with the same actions give the same episode? Declared `yes` or `no`, else
    tried."""
    if declared != "unknown":
        return declared == "yes"
    return same_episode(envs, 12345, 12345)


def same_episode(envs: InProcess, seed: int, other: int, steps: int = 24) -> bool:
    """Do two seeds give the same episode? Tried on copy 0 with the same random actions."""
    space, rng = envs.action_space, stream(0, "replay check")
    if isinstance(space, Choice):
        actions = rng.integers(0, space.n, size=(steps, envs.n_envs)) + space.first
    else:
        low, high = np.array(space.low), np.array(space.high)
        low = np.where(np.isfinite(low), low, np.minimum(high, 1.0) - 2.0)
        high = np.where(np.isfinite(high), high, low + 2.0)
        actions = rng.uniform(low, high, (steps, envs.n_envs, space.size)).astype(np.float32)
        actions = actions.reshape(steps, envs.n_envs, *space.shape)
    first, second = (_episode_of(envs, actions, s) for s in (seed, other))
    return len(first) == len(second) and all(
        np.array_equal(a, b) for a, b in zip(first, second, strict=True)
    )


def _episode_of(envs: InProcess, actions: Array, seed: int) -> list[Array]:
    envs.reset([0], [seed])
    seen = [envs.obs[0].copy()]
    for action in actions:
        step = envs.step(action, [0])
        seen.append(np.append(step.obs[0].ravel().astype(np.float64), step.reward[0]))
        if step.terminated[0] or step.truncated[0]:
            break
    return seen


def _is_index(obs: Any) -> bool:
    return isinstance(obs, int) or (
        np.ndim(obs) == 0 and np.issubdtype(np.asarray(obs).dtype, np.integer)
    )


def _named(cause: BaseException) -> str:
    return f"{type(cause).__name__}: {cause}"
