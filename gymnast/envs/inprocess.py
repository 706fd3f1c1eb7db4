"""Copies of an environment stepped one after the other in this process."""

from __future__ import annotations

import contextlib
import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from gymnast.envs.backend import Fault, Step
from gymnast.envs.rows import NOBODY, Rows
from gymnast.policy import spaces
from gymnast.policy.spaces import Choice

Array = np.ndarray


class InProcess:
    restore: Literal["state", "replay", "none"] = "replay"

    def __init__(
        self,
        make: Callable[[], gym.Env[Any, Any]],
        n_envs: int,
        name: str,
        *,
        masked: bool = True,
    ) -> None:
        """`masked`: use `info["action_mask"]` where the environment gives one."""
        self.name, self.n_envs, self._make, self._masked = name, n_envs, make, masked
        self.envs = [make() for _ in range(n_envs)]
        seen, taken = self.envs[0].observation_space, self.envs[0].action_space
        self.obs_space, self.action_space = spaces.observation(seen), spaces.action(taken)
        self.described = (" ".join(str(seen).split()), str(taken))
        spec = self.envs[0].spec
        self.time_limit = spec.max_episode_steps if spec is not None else None
        self.use(Rows.of(self.obs_space, self.action_space, n_envs).part(0, range(n_envs)))
        self._infos: list[dict[str, Any]] = [{} for _ in range(n_envs)]
        self._age = [0] * n_envs
        self._every = range(n_envs)
        self._broken: set[int] = set()
        """Copies to be made anew before they are used again."""

    def use(self, rows: Rows) -> None:
        """Write into these rows from now on."""
        self._rows, self.obs, self._reward = rows, rows.obs, rows.reward
        self._terminated, self._truncated, self._now = rows.terminated, rows.truncated, rows.now

    @property
    def mask(self) -> Array | None:
        return self._rows.mask if self._rows.masked[0] else None

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        faults: list[Fault] = []
        for i, seed in zip(copies, seeds, strict=True):
            self._age[i] = 0
            self._reward[i] = 0.0
            self._terminated[i] = self._truncated[i] = False
            self._now[0] = i
            try:
                if i in self._broken:
                    self._renew(i)
                obs, self._infos[i] = self.envs[i].reset(seed=seed)
            except (Exception, SystemExit) as cause:
                faults.append(self._raised(i, f"reset(seed={seed})", cause))
                continue
            problem = self.obs_space.put(self.obs, i, obs) or self._allow(i)
            if problem is not None:
                faults.append(self._fault(i, problem))
        self._now[0] = NOBODY
        return (*faults, *self._not_finite())

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        actions = action.tolist() if isinstance(self.action_space, Choice) else action
        put, now, masked = self.obs_space.put, self._now, self.mask is not None
        faults: list[Fault] = []
        for i in self._every if copies is None else copies:
            self._age[i] += 1
            now[0] = i
            try:
                obs, reward, terminated, truncated, self._infos[i] = self.envs[i].step(actions[i])
            except (Exception, SystemExit) as cause:
                faults.append(self._raised(i, f"step({actions[i]})", cause))
                continue
            problem = put(self.obs, i, obs)
            try:
                self._reward[i] = reward
            except (TypeError, ValueError):
                problem = f"the reward is {reward!r}, not a number"
            try:
                self._terminated[i], self._truncated[i] = terminated, truncated
            except (TypeError, ValueError):
                ends = f"terminated is {terminated!r} and truncated {truncated!r}"
                problem = f"{ends}, not both True or False"
            if problem is None and masked and not (self._terminated[i] or self._truncated[i]):
                problem = self._allow(i)
            if problem is not None:
                faults.append(self._fault(i, problem))
        now[0] = NOBODY
        faults += self._not_finite()
        ends = self._terminated, self._truncated
        return Step(self.obs, self._reward, *ends, self._infos, faults=tuple(faults))

    def close(self) -> None:
        for env in self.envs:
            env.close()

    def _allow(self, copy: int) -> str | None:
        """Note which actions are allowed now, where the environment says; or what is wrong there."""
        given = self._infos[copy].get("action_mask") if self._masked else None
        if given is not None:
            self._rows.masked[0] = True
        if self.mask is None:
            return None
        return spaces.put_mask(self.action_space, self.mask, copy, given)

    def _not_finite(self) -> list[Fault]:
        """Faults of copies that gave NaN or infinity."""
        faults: list[Fault] = []
        if not math.isfinite(self._reward.sum()):
            for i in np.flatnonzero(~np.isfinite(self._reward)).tolist():
                faults += [self._fault(i, f"the reward is {self._reward[i]}")]
        bad = self.obs_space.not_finite(self.obs)
        if bad is not None:
            for i in np.flatnonzero(bad).tolist():
                where = self.obs_space.where_not_finite(self.obs[i])
                faults.append(self._fault(i, f"the observation is not finite at {where}"))
        return faults

    def _raised(self, copy: int, call: str, cause: BaseException) -> Fault:
        text = "".join(traceback.format_exception(cause))
        return self._fault(copy, f"{call} raised {type(cause).__name__}: {cause}", text)

    def _fault(self, copy: int, what: str, text: str = "") -> Fault:
        """The copy shows nothing, and nothing happened to it, until it is made anew."""
        self._broken.add(copy)
        self._rows.blank(self.obs_space, slice(copy, copy + 1))
        return Fault(copy, self._age[copy], what, text)

    def _renew(self, copy: int) -> None:
        with contextlib.suppress(Exception):  # it is being thrown away
            self.envs[copy].close()
        self.envs[copy] = self._make()
        self._broken.discard(copy)
