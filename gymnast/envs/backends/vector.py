"""An environment's own vector implementation, behind the contract.

When it resets is read from its metadata (`autoreset_mode`):
- NEXT_STEP: the step after an end only begins the next episode, and is marked so.
- SAME_STEP: the step that ends an episode begins the next one, which is shown after `reset`.
- DISABLED: it resets when told, like us.
Where it begins episodes by itself no seed of an episode reaches it: a reset of all copies seeds the
vector, and what it does since then is kept (`history.py`) to restore it. Single copies cannot be stepped,
and where single copies cannot be reset either, a fault costs the running episodes of all.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from gymnasium import error
from gymnasium.vector import AutoresetMode, VectorEnv

from gymnast.envs.backends import active_calls
from gymnast.envs.backends.active_calls import ActiveCall
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX, Fault, Step, any_of
from gymnast.envs.backends.history import History
from gymnast.envs.backends.step_info import columns_of_vector
from gymnast.envs.backends.vector_obs import LastInfos, Problems, VectorObs, columns_of
from gymnast.errors import EnvError

Array = np.ndarray


class VectorBackend:
    restore: Literal["replay", "together", "history", "none"]

    def __init__(
        self,
        make: Callable[[], VectorEnv[Any, Any, Any]],
        name: str,
        *,
        info_keys: Sequence[str] = (),
        step_keys: Sequence[str] = (),
        masked: bool = True,
    ) -> None:
        self.name, self._make, self._info_keys = name, make, info_keys
        self._step_keys = tuple(step_keys)
        self._vector = make()
        self._mode = _mode_of(self._vector, name)
        self.n_envs = n = self._vector.num_envs
        self._shown = shown = VectorObs(self._vector, masked=masked)
        self.obs_space, self.action_space = shown.obs_space, shown.action_space
        self.obs, self._next = shown.obs, shown.obs.copy()
        """`_next`: what an episode begins with that began in the step that ended another."""
        seen, taken = self._vector.single_observation_space, self._vector.single_action_space
        self.space_texts = (" ".join(str(seen).split()), str(taken))
        self.time_limit, self.has_default_limit = _time_limit(self._vector), False
        self._age = np.zeros(n, dtype=np.int64)
        self._over = np.zeros(n, dtype=bool)
        """Copies whose episode has ended, until they begin another."""
        self._began = self._broken = False
        self._calls, self._busy = 0, ""
        """`_busy`: the call of the vector that is under way."""
        self._untold: dict[int, Fault] = {}
        """Copies that began anew with the vector when only others were reset."""
        self._seed_each = None if self._mode is AutoresetMode.DISABLED else False
        """Whether it takes a seed per copy; None until that was tried."""
        self._seed_every: int = getattr(self._vector, "seed_every", 0)
        """Steps after which a copy gets a new seed when its next episode begins."""
        self.restore = "together" if self._mode is AutoresetMode.DISABLED else "history"
        self.history = History(self.action_space, n)
        active_calls.register(self)

    @property
    def mask(self) -> Array | None:
        return self._shown.mask

    @property
    def seeds_copies(self) -> bool:
        """Whether single copies can be seeded."""
        return self._seed_each is True

    def restart(self, seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Reset all copies with these seeds, or the first of them where there can be only one."""
        self._began = False
        return self._reset(list(range(self.n_envs)), seeds)

    def seed(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Reset single copies, each with its seed."""
        self.history.forget(copies)  # so that they are due
        return self.reset(copies, seeds)

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        if not len(copies):
            return ()
        self._calls, self._busy = self._calls + 1, "reset"
        try:
            found = self._reset(list(copies), seeds)
        finally:
            self._busy = ""
        if not (found or self._untold):
            return ()
        named, faults = set(copies), {fault.copy: fault for fault in found}
        self._untold = {i: f for i, f in (self._untold | faults).items() if i not in named}
        return tuple(fault for i, fault in faults.items() if i in named)

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        if copies is not None and len(copies) < self.n_envs:
            what = f"{self.name}: a vector implementation cannot step single copies"
            raise EnvError(what, fix=OTHER_BACKEND_FIX)
        if self._untold:
            told, self._untold = tuple(self._untold.values()), {}
            return replace(self._nothing(told), stepped=np.zeros(self.n_envs, dtype=bool))
        begins, self._over = self._over, np.zeros(self.n_envs, dtype=bool)
        self._age += 1
        self._age[begins] = 0
        self.history.add(action)
        try:
            self._calls, self._busy = self._calls + 1, "step"
            obs, *numbers, info = self._vector.step(action.copy())  # which it may keep
            self._busy = ""
            columns = list(columns_of(numbers, self.n_envs))
        except (Exception, SystemExit) as cause:
            self._busy = ""
            return self._nothing(self._raised("step", cause))
        problem = next((said for _, said in columns if said is not None), None)
        if problem is not None:
            return self._nothing(self._faults(dict.fromkeys(range(self.n_envs), problem)))
        reward, terminated, truncated = (column for column, _ in columns)
        reward, over = reward.astype(np.float64), terminated | truncated
        problems = self._take(obs, info, reward, over)
        infos = LastInfos(info, self._info_keys, over.copy() if problems else over)
        faults = self._faults(problems)
        if self._broken:
            return self._nothing(faults)
        if problems:
            spoilt = list(problems)
            reward[spoilt], over[spoilt] = 0.0, False
            terminated, truncated = terminated & over, truncated & over
        self._over = over
        stepped = ~begins if any_of(begins) else None
        step = Step(self.obs, reward, terminated, truncated, infos, stepped, faults)
        if self._step_keys:
            step.numbers = self._numbers(info, over)
        return step

    def close(self) -> None:
        self._vector.close()

    def at_work(self) -> ActiveCall | None:
        if not self._busy:
            return None
        step = int(self._age.max()) if self._busy == "step" else 0
        return ActiveCall(self.name, None, step, self._calls)

    def _numbers(self, info: Mapping[str, Any], over: Array) -> Array:
        """Of this step's info; of ended episodes the last one's, where the next has begun."""
        about = self._step_keys, self.n_envs, self.name
        found = columns_of_vector(info, *about)
        if "final_info" in info and any_of(over):
            found[over] = columns_of_vector(info["final_info"], *about)[over]
        return found

    def _take(self, obs: Any, info: Mapping[str, Any], reward: Array, over: Array) -> Problems:
        """What a step shows and allows; the last of ended episodes, where the next has begun."""
        shown, same_step = self._shown, self._mode is AutoresetMode.SAME_STEP
        problems = shown.write(obs)
        if same_step and any_of(over):
            ended, final = np.flatnonzero(over).tolist(), info.get("final_obs")
            self._next[ended] = self.obs[ended]
            if final is None:
                problems |= dict.fromkeys(ended, 'the episode ended without info["final_obs"]')
            else:
                problems |= shown.write_each(final, ended)
        if shown.mask is not None or "action_mask" in info:
            problems |= shown.record_masks(info, np.flatnonzero(~over | same_step))
        return problems | shown.not_finite(reward)

    # ---- beginning ---------------------------------------------------------------------------

    def _reset(self, chosen: list[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        try:
            if self._broken:
                self._renew()
            if not self._began:
                return self._begin_all(chosen, seeds)
            if self._mode is AutoresetMode.DISABLED:
                return self._begin(chosen, seeds)
        except (Exception, SystemExit) as cause:
            self._age[chosen] = 0
            return self._raised("reset", cause)
        if not (self._over[chosen] | (self._age[chosen] == 0)).all():
            if len(chosen) < self.n_envs:
                raise EnvError(f"{self.name}: a vector implementation cannot reset single copies")
            return self._begin_all(chosen, seeds)
        self._age[chosen] = 0
        if self._mode is not AutoresetMode.SAME_STEP:
            return ()
        begin = [copy for copy in chosen if self._over[copy]]
        self.obs[begin], self._over[begin] = self._next[begin], False
        return self._faults(self._shown.not_finite())

    def _begin_all(self, chosen: list[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        obs, info = self._reset_vector(chosen, seeds, None)
        self._began = True
        every = list(range(self.n_envs))
        self.history.forget(every)
        if self._seed_each:
            self.history.begin(chosen, seeds)
        else:
            self.history.begin(every, [int(seeds[0])] * self.n_envs)
        self._over[:], self._age[:] = False, 0
        problems = self._shown.write(obs) | self._shown.record_masks(info, np.arange(self.n_envs))
        return self._faults(problems | self._shown.not_finite())

    def _begin(self, chosen: list[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """New episodes in some copies, where the vector can."""
        named = np.zeros(self.n_envs, dtype=bool)
        named[chosen] = True
        due = {
            copy: seed
            for copy, seed in zip(chosen, seeds, strict=True)
            if self.history.age(copy) >= self._seed_every
        }
        obs, info = self._reset_vector(list(due), list(due.values()), named)
        if self._seed_each:
            self.history.begin(list(due), list(due.values()))
        else:
            self.history.forget(chosen)
        self._over[chosen], self._age[chosen] = False, 0
        problems = self._shown.write(obs, chosen) | self._shown.record_masks(info, np.array(chosen))
        return self._faults(problems | self._shown.not_finite())

    def _reset_vector(
        self, chosen: list[int], seeds: Sequence[int], named: Array | None
    ) -> tuple[Any, Any]:
        """A seed for each chosen copy, if the vector takes that; else one for a reset of all."""
        more = {} if named is None else {"options": {"reset_mask": named}}
        if self._seed_each is not False:
            seed_of = dict(zip(chosen, seeds, strict=True))
            each: Any = [seed_of.get(copy) for copy in range(self.n_envs)]
            try:
                begun = self._vector.reset(seed=each, **more)
                self._seed_each = True
                return begun
            except (TypeError, ValueError, error.Error):
                if self._seed_each:
                    raise
                self._seed_each = False
        seed = int(seeds[0]) if named is None else None
        return self._vector.reset(seed=seed, **more)

    def _renew(self) -> None:
        with suppress(Exception):  # it is being thrown away
            self._vector.close()
        self._vector, self._began = self._make(), False
        self._broken = False

    # ---- faults ------------------------------------------------------------------------------

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
        self._shown.blank(list(problems))
        self.history.forget(list(problems))
        ages, culprit = self._age.tolist(), min(problems.keys() - beside)
        return tuple(
            Fault(i, ages[i], what, text, because_of=culprit if i in beside else None)
            for i, what in sorted(problems.items())
        )

    def _nothing(self, faults: tuple[Fault, ...]) -> Step:
        none, never = np.zeros(self.n_envs), np.zeros(self.n_envs, dtype=bool)
        return Step(self.obs, none, never, never, _NO_INFO * self.n_envs, faults=faults)


_NO_INFO: list[dict[str, Any]] = [{}]


def _mode_of(vector: VectorEnv[Any, Any, Any], name: str) -> AutoresetMode:
    told = vector.metadata.get("autoreset_mode")
    try:
        return told if isinstance(told, AutoresetMode) else AutoresetMode(told)
    except ValueError:
        what = f"{name}: its vector implementation does not say when it resets"
        fix = f'declare metadata["autoreset_mode"], or {OTHER_BACKEND_FIX}'
        raise EnvError(what, fix=fix) from None


def _time_limit(vector: VectorEnv[Any, Any, Any]) -> int | None:
    own = getattr(vector, "time_limit", None)
    if own is not None or vector.spec is None:
        return own
    return vector.spec.kwargs.get("max_episode_steps", vector.spec.max_episode_steps)
