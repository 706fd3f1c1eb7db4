"""Copies of an environment stepped one after the other in this process."""

from __future__ import annotations

import contextlib
import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from gymnast.envs.backends import active_calls
from gymnast.envs.backends.active_calls import ActiveCall
from gymnast.envs.backends.arrays import NOBODY, CopyArrays
from gymnast.envs.backends.backend import Fault, Step
from gymnast.envs.backends.step_info import numbers_of
from gymnast.envs.build.strip_wrappers import has_default_limit, strip_wrappers, time_limit
from gymnast.processes import guard
from gymnast.spaces import spaces
from gymnast.spaces.spaces import BoxObs

Array = np.ndarray


class InProcessBackend:
    restore: Literal["replay", "together", "history", "none"] = "replay"

    def __init__(
        self,
        make: Callable[[], gym.Env[Any, Any]],
        n_envs: int,
        name: str,
        *,
        masked: bool = True,
        step_keys: Sequence[str] = (),
    ) -> None:
        """`masked`: use `info["action_mask"]` where the environment gives one; `step_keys`: numbers to
        take from the info of every step."""
        self._step_keys = tuple(step_keys)
        self.name, self.n_envs, self._make, self._masked = name, n_envs, make, masked
        made = [make() for _ in range(n_envs)]
        seen, taken = made[0].observation_space, made[0].action_space
        self.obs_space, self.action_space = spaces.observation(seen), spaces.action(taken)
        self.space_texts = (" ".join(str(seen).split()), str(taken))
        self.time_limit = time_limit(made[0])
        self.has_default_limit = has_default_limit(made[0])
        self.envs = [strip_wrappers(env)[0] for env in made]
        self._steps = [env.step for env in self.envs]
        self._limit = strip_wrappers(made[0])[1]
        """Steps after which we cut an episode short."""
        self._clock = 0
        """Steps of the whole vector so far. A copy's age is how long ago it was born."""
        self._born = [0] * n_envs
        self._due: float = math.inf
        """When the next episode reaches the limit."""
        self._infos: list[dict[str, Any]] = [{} for _ in range(n_envs)]
        self._every = range(n_envs)
        self._broken: set[int] = set()
        """Copies to be made anew before they are used again."""
        keys = len(self._step_keys)
        rows = CopyArrays.of(self.obs_space, self.action_space, n_envs, keys=keys)
        self.use(rows.part(0, range(n_envs)))
        self._now: Any = [NOBODY]  # read by a watchdog; in a worker also by the trainer
        self._calls = 0
        self._begun = False
        active_calls.register(self)

    def use(self, rows: CopyArrays) -> None:
        """Write into these rows from now on."""
        self._rows, self.obs, self._reward = rows, rows.obs, rows.reward
        self._terminated, self._truncated, self._now = rows.terminated, rows.truncated, rows.now
        self._rewards: Any = rows.reward.data
        """The same memory: single numbers are written faster that way."""
        self._numbers = rows.obs.reshape(-1) if isinstance(self.obs_space, BoxObs) else None
        self._finite = np.ones(rows.obs.size, dtype=bool)
        self._ended = True
        """Some copy may be marked as ended."""

    @property
    def mask(self) -> Array | None:
        return self._rows.mask if self._rows.masked[0] else None

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        faults: list[Fault] = []
        self._calls += 1
        for i, seed in zip(copies, seeds, strict=True):
            self._born[i] = self._clock
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
        self._set_due()
        if not self._begun:  # some start an engine when they begin their first episode
            self._begun = True
            guard.look()
        return (*faults, *self._not_finite())

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        chosen = self._every if copies is None else copies
        self._grow_older(copies)
        self._calls += 1
        actions = list(action)  # NumPy scalars, as spaces sample them: they check Python's slower
        shown, shape, put = self.obs, self.obs_space.shape, self.obs_space.put
        simple = np.ndarray if self._numbers is not None else None
        steps, infos, rewards, now = self._steps, self._infos, self._rewards, self._now
        faults: list[Fault] = []
        for i in chosen:
            now[0] = i
            try:
                obs, reward, terminated, truncated, infos[i] = steps[i](actions[i])
            except (Exception, SystemExit) as cause:
                faults.append(self._raised(i, f"step({actions[i]})", cause))
                continue
            problem = None
            try:
                if type(obs) is simple and obs.shape == shape:
                    shown[i] = obs
                else:
                    problem = put(shown, i, obs)
                rewards[i] = reward
                if terminated or truncated:
                    self._terminated[i], self._truncated[i] = terminated, truncated
                    self._ended = True
            except (TypeError, ValueError):
                problem = self._what_is_wrong(i, obs, reward, terminated, truncated)
            if problem is not None:
                faults.append(self._fault(i, problem))
        now[0] = NOBODY
        if self._clock >= self._due:
            self._cut_short(chosen)
        if self._rows.masked[0]:
            faults += self._allow_all(chosen)
        faults += self._not_finite()
        ends = self._terminated, self._truncated
        step = Step(shown, self._reward, *ends, infos, faults=tuple(faults))
        if self._step_keys:
            step.numbers = self._note_numbers(chosen)
        return step

    def close(self) -> None:
        for env in self.envs:
            env.close()

    def at_work(self) -> ActiveCall | None:
        copy = int(self._now[0])
        if copy == NOBODY:
            return None
        return ActiveCall(self.name, copy, self._clock - self._born[copy], self._calls)

    def _note_numbers(self, copies: Sequence[int]) -> Array:
        numbers = self._rows.numbers
        for i in copies:
            numbers[i] = numbers_of(self._infos[i], self._step_keys, self.name)
        return numbers

    # ---- ages and ends -----------------------------------------------------------------------

    def _grow_older(self, copies: Sequence[int] | None) -> None:
        """The copies that are about to be stepped; what the last step marked as ended is not so now."""
        if copies is None:
            self._clock += 1
            if self._ended:
                self._terminated[:] = self._truncated[:] = False
                self._ended = False
            return
        for i in copies:
            self._born[i] -= 1
            self._terminated[i] = self._truncated[i] = False
        self._set_due()

    def _set_due(self) -> None:
        if self._limit is not None:
            self._due = min(self._born) + self._limit

    def _cut_short(self, copies: Sequence[int]) -> None:
        assert self._limit is not None
        for i in copies:
            if self._clock - self._born[i] >= self._limit and i not in self._broken:
                self._truncated[i] = self._ended = True

    # ---- what is allowed, what is wrong ------------------------------------------------------

    def _allow(self, copy: int) -> str | None:
        """Note which actions are allowed now, where the environment says; or what is wrong there."""
        given = self._infos[copy].get("action_mask") if self._masked else None
        if given is not None:
            self._rows.masked[0] = True
        if self.mask is None:
            return None
        return spaces.put_mask(self.action_space, self.mask, copy, given)

    def _allow_all(self, copies: Sequence[int]) -> list[Fault]:
        """Of copies that go on."""
        over = self._terminated | self._truncated
        going = [i for i in copies if not over[i] and i not in self._broken]
        told = ((i, self._allow(i)) for i in going)
        return [self._fault(i, problem) for i, problem in told if problem is not None]

    def _what_is_wrong(
        self, copy: int, obs: Any, reward: Any, terminated: Any, truncated: Any
    ) -> str | None:
        """With something that could not be written where it belongs."""
        problem = self.obs_space.put(self.obs, copy, obs)
        try:
            self._reward[copy] = reward
        except (TypeError, ValueError):
            problem = f"the reward is {reward!r}, not a number"
        try:
            self._terminated[copy], self._truncated[copy] = terminated, truncated
            self._ended = True
        except (TypeError, ValueError):
            ends = f"terminated is {terminated!r} and truncated {truncated!r}"
            problem = f"{ends}, not both True or False"
        return problem

    def _not_finite(self) -> list[Fault]:
        """Faults of copies that gave NaN or infinity."""
        if self._numbers is not None:
            np.isfinite(self._numbers, self._finite)
        if 0 not in self._finite.tobytes() and math.isfinite(sum(self._rewards)):
            return []
        faults: list[Fault] = []
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
        return Fault(copy, self._clock - self._born[copy], what, text)

    def _renew(self, copy: int) -> None:
        with contextlib.suppress(Exception):  # it is being thrown away
            self.envs[copy].close()
        self.envs[copy] = strip_wrappers(self._make())[0]
        self._steps[copy] = self.envs[copy].step
        self._broken.discard(copy)
