"""An environment's own vector implementation, behind the contract.

When it resets is read from its metadata (`autoreset_mode`):
- NEXT_STEP: the step after an end only begins the next episode, and is marked so.
- SAME_STEP: the step that ends an episode begins the next one, which is shown after `reset`.
- DISABLED: it resets when told, like us.
Where it begins episodes by itself no seed of an episode reaches it: a reset of all copies seeds the
vector. Single copies cannot be stepped, so running episodes cannot be had again, and where single
copies cannot be reset either, a fault costs the running episodes of all.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from gymnasium import error
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import iterate

from gymnast.envs.backend import Fault, Step
from gymnast.errors import EnvError
from gymnast.policy import spaces
from gymnast.policy.spaces import Vector

Array = np.ndarray
Problems = dict[int, str]
"""Copy -> what is wrong with it."""


class Vectorized:
    restore: Literal["state", "replay", "none"] = "none"

    def __init__(
        self,
        make: Callable[[], VectorEnv[Any, Any, Any]],
        name: str,
        *,
        info_keys: Sequence[str] = (),
        masked: bool = True,
    ) -> None:
        self.name, self._make, self._info_keys, self._masked = name, make, info_keys, masked
        self._vector = make()
        self._mode = _mode_of(self._vector, name)
        self.n_envs = n = self._vector.num_envs
        seen, taken = self._vector.single_observation_space, self._vector.single_action_space
        self.obs_space, self.action_space = spaces.observation(seen), spaces.action(taken)
        self.described = (" ".join(str(seen).split()), str(taken))
        self.time_limit = _time_limit(self._vector)
        self.obs, self._next = (spaces.blank(self.obs_space, n) for _ in range(2))
        """`_next`: what an episode begins with that began in the step that ended another."""
        self.mask: Array | None = None
        self._age = np.zeros(n, dtype=np.int64)
        self._over = np.zeros(n, dtype=bool)
        """Copies whose episode has ended, until they begin another."""
        self._began = self._broken = False
        self._untold: dict[int, Fault] = {}
        """Copies that began anew with the vector when only others were reset."""
        self._seed_each = None if self._mode is AutoresetMode.DISABLED else False
        """Whether it takes a seed per copy; None until that was tried."""

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        seed_of = dict(zip(copies, seeds, strict=True))
        faults = {fault.copy: fault for fault in self._reset(seed_of)} if seed_of else {}
        self._untold = {i: f for i, f in (self._untold | faults).items() if i not in seed_of}
        return tuple(fault for i, fault in faults.items() if i in seed_of)

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        if copies is not None and len(copies) < self.n_envs:
            what = f"{self.name}: a vector implementation cannot step single copies"
            raise EnvError(what, fix="set env.backend to inprocess or process")
        if self._untold:
            told, self._untold = tuple(self._untold.values()), {}
            return replace(self._nothing(told), stepped=np.zeros(self.n_envs, dtype=bool))
        begins, self._over = self._over, np.zeros(self.n_envs, dtype=bool)
        self._age += 1
        self._age[begins] = 0
        try:
            obs, *numbers, info = self._vector.step(action)
            reward, terminated, truncated = (np.asarray(column) for column in numbers)
        except (Exception, SystemExit) as cause:
            return self._nothing(self._raised("step", cause))
        problem = next(
            filter(None, map(self._wrong, _NAMES, (reward, terminated, truncated))), None
        )
        if problem is not None:
            return self._nothing(self._faults(dict.fromkeys(range(self.n_envs), problem)))
        reward, over = reward.astype(np.float64), terminated | truncated
        problems, infos = self._put(obs), _NO_INFO * self.n_envs
        if over.any():
            infos = self._last_infos(info, over)
            problems |= self._finish(info, over)
        playing = np.flatnonzero(~over | (self._mode is AutoresetMode.SAME_STEP))
        problems |= self._allow(info, playing.tolist()) | self._not_finite(reward)
        faults = self._faults(problems)
        if self._broken:
            return self._nothing(faults)
        spoilt = list(problems)
        reward[spoilt], over[spoilt] = 0.0, False
        self._over = over
        stepped = ~begins if begins.any() else None
        return Step(self.obs, reward, terminated & over, truncated & over, infos, stepped, faults)

    def close(self) -> None:
        self._vector.close()

    # ---- beginning ---------------------------------------------------------------------------

    def _reset(self, seed_of: Mapping[int, int]) -> tuple[Fault, ...]:
        try:
            if self._broken:
                self._renew()
            if not self._began:
                return self._begin_all(seed_of)
            if self._mode is AutoresetMode.DISABLED:
                return self._begin(seed_of)
        except (Exception, SystemExit) as cause:
            self._age[list(seed_of)] = 0
            return self._raised("reset", cause)
        chosen = list(seed_of)
        if not (self._over[chosen] | (self._age[chosen] == 0)).all():
            if len(chosen) < self.n_envs:
                raise EnvError(f"{self.name}: a vector implementation cannot reset single copies")
            return self._begin_all(seed_of)
        self._age[chosen] = 0
        if self._mode is AutoresetMode.SAME_STEP:
            begin = [copy for copy in chosen if self._over[copy]]
            self.obs[begin], self._over[begin] = self._next[begin], False
        return self._faults(self._not_finite(np.zeros(self.n_envs)))

    def _begin_all(self, seed_of: Mapping[int, int]) -> tuple[Fault, ...]:
        obs, info = self._reset_vector(seed_of, None)
        self._began = True
        self._over[:], self._age[:] = False, 0
        every = range(self.n_envs)
        problems = self._put(obs) | self._allow(info, every)
        return self._faults(problems | self._not_finite(np.zeros(self.n_envs)))

    def _begin(self, seed_of: Mapping[int, int]) -> tuple[Fault, ...]:
        """New episodes in some copies, where the vector can."""
        chosen = list(seed_of)
        named = np.zeros(self.n_envs, dtype=bool)
        named[chosen] = True
        obs, info = self._reset_vector(seed_of, named)
        self._over[chosen], self._age[chosen] = False, 0
        problems = self._put(obs, chosen) | self._allow(info, chosen)
        return self._faults(problems | self._not_finite(np.zeros(self.n_envs)))

    def _reset_vector(self, seed_of: Mapping[int, int], named: Array | None) -> tuple[Any, Any]:
        """A seed for each copy, if the vector takes that; else one for a reset of all."""
        more = {} if named is None else {"options": {"reset_mask": named}}
        if self._seed_each is not False:
            each: Any = [seed_of.get(copy) for copy in range(self.n_envs)]
            try:
                begun = self._vector.reset(seed=each, **more)
                self._seed_each = True
                return begun
            except (TypeError, ValueError, error.Error):
                if self._seed_each:
                    raise
                self._seed_each = False
        seed = int(next(iter(seed_of.values()))) if named is None else None
        return self._vector.reset(seed=seed, **more)

    def _renew(self) -> None:
        with suppress(Exception):  # it is being thrown away
            self._vector.close()
        self._vector, self._began = self._make(), False
        self._broken = False

    # ---- what came out -----------------------------------------------------------------------

    def _wrong(self, name: str, column: Array) -> str | None:
        """What is wrong with a column of numbers."""
        if column.shape != (self.n_envs,):
            return f"{name} has shape {column.shape}, not ({self.n_envs},)"
        kinds = "buif" if name == "reward" else "b"
        return None if column.dtype.kind in kinds else f"{name} is of {column.dtype}"

    def _put(self, obs: Any, copies: Sequence[int] | None = None) -> Problems:
        if isinstance(self.obs_space, Vector) and getattr(obs, "shape", None) == self.obs.shape:
            which = slice(None) if copies is None else list(copies)
            try:
                self.obs[which] = obs[which]
                return {}
            except (TypeError, ValueError):
                return dict.fromkeys(range(self.n_envs), f"the observations are of {obs.dtype}")
        try:
            each = list(iterate(self._vector.observation_space, obs))
        except Exception:
            each = []
        if len(each) != self.n_envs:
            what = f"the observations are not {self.n_envs} of the space, one per copy"
            return dict.fromkeys(range(self.n_envs), what)
        put = self.obs_space.put
        which = range(self.n_envs) if copies is None else copies
        return {i: said for i in which if (said := put(self.obs, i, each[i])) is not None}

    def _finish(self, info: Mapping[str, Any], over: Array) -> Problems:
        """Show what ended episodes ended with, where the next one has begun already."""
        if self._mode is not AutoresetMode.SAME_STEP:
            return {}
        ended, final = np.flatnonzero(over).tolist(), info.get("final_obs")
        if final is None:
            return dict.fromkeys(ended, 'the episode ended without info["final_obs"]')
        self._next[ended] = self.obs[ended]
        put = self.obs_space.put
        return {i: said for i in ended if (said := put(self.obs, i, final[i])) is not None}

    def _last_infos(self, info: Mapping[str, Any], over: Array) -> list[dict[str, Any]]:
        """Of the copies whose episode ended: what was asked for."""
        found = info.get("final_info", info)
        every = np.ones(self.n_envs, dtype=bool)
        keys = [key for key in self._info_keys if key in found]
        return [
            {key: found[key][i] for key in keys if found.get(f"_{key}", every)[i]}
            if over[i]
            else {}
            for i in range(self.n_envs)
        ]

    def _allow(self, info: Mapping[str, Any], copies: Sequence[int]) -> Problems:
        """Note which actions are allowed now, where the environment says."""
        given = info.get("action_mask") if self._masked else None
        if given is not None and self.mask is None:
            options = spaces.n_options(self.action_space)
            self.mask = np.ones((self.n_envs, options), dtype=bool)
        if self.mask is None:
            return {}
        told = info.get("_action_mask", np.full(self.n_envs, given is not None))
        problems: Problems = {}
        for i in copies:
            allowed = given[i] if given is not None and told[i] else None
            said = spaces.put_mask(self.action_space, self.mask, i, allowed)
            if said is not None:
                problems[i] = said
        return problems

    # ---- faults ------------------------------------------------------------------------------

    def _not_finite(self, reward: Array) -> Problems:
        problems: Problems = {}
        if not math.isfinite(reward.sum()):
            for i in np.flatnonzero(~np.isfinite(reward)).tolist():
                problems[i] = f"the reward is {reward[i]}"
        bad = self.obs_space.not_finite(self.obs)
        if bad is not None:
            bad = np.flatnonzero(bad).tolist()
            problems |= dict.fromkeys(bad, "the observation is not finite")
        return problems

    def _raised(self, call: str, cause: BaseException) -> tuple[Fault, ...]:
        what = f"{call} of the whole vector raised {type(cause).__name__}: {cause}"
        self._broken = True
        text = "".join(traceback.format_exception(cause))
        return self._faults(dict.fromkeys(range(self.n_envs), what), text)

    def _faults(self, problems: Problems, text: str = "") -> tuple[Fault, ...]:
        """Of the copies that have a problem; of all, if the vector must be made anew for it."""
        if not problems:
            return ()
        alone = self._mode is AutoresetMode.DISABLED and len(problems) < self.n_envs
        if not alone:
            self._broken = True
            why = f"its vector is made anew because of copy {min(problems)}"
            beside = set(range(self.n_envs)) - set(problems)
            problems = dict.fromkeys(range(self.n_envs), why) | problems
        else:
            beside = set[int]()
        self.obs[list(problems)] = spaces.blank(self.obs_space, 1)[0]
        ages = self._age.tolist()
        return tuple(
            Fault(i, ages[i], what, text, bystander=i in beside)
            for i, what in sorted(problems.items())
        )

    def _nothing(self, faults: tuple[Fault, ...]) -> Step:
        none, never = np.zeros(self.n_envs), np.zeros(self.n_envs, dtype=bool)
        return Step(self.obs, none, never, never, _NO_INFO * self.n_envs, faults=faults)


_NAMES = ("reward", "terminated", "truncated")
_NO_INFO: list[dict[str, Any]] = [{}]


def _mode_of(vector: VectorEnv[Any, Any, Any], name: str) -> AutoresetMode:
    told = vector.metadata.get("autoreset_mode")
    try:
        return told if isinstance(told, AutoresetMode) else AutoresetMode(told)
    except ValueError:
        what = f"{name}: its vector implementation does not say when it resets"
        fix = 'declare metadata["autoreset_mode"], or set env.backend to inprocess or process'
        raise EnvError(what, fix=fix) from None


def _time_limit(vector: VectorEnv[Any, Any, Any]) -> int | None:
    if vector.spec is None:
        return None
    return vector.spec.kwargs.get("max_episode_steps", vector.spec.max_episode_steps)
